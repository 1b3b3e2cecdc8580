#pragma once

#include <filesystem>
#include <string>

namespace dlprim {

/**
 * Why somebody else than this user and root could have put there what a path leads to, and what to do about
 * it; empty when nobody could. It looks at owner and mode of the directory and of every symbolic link on the
 * way. It also looks at every directory above, which others may write only with the sticky bit. On Windows it
 * looks at owners and access lists, and users of the machine's own (administrators, the system) stand for
 * root.
 */
std::string distrust_of_directory(const std::filesystem::path& directory);

/** Whether a file is so in a trusted directory. A symbolic link is not trusted; a file that is not there is.
 */
std::string distrust_of_file(const std::filesystem::path& file);

}  // namespace dlprim
