#pragma once

#include <filesystem>
#include <string>

namespace dlprim {

/**
 * Why somebody else than this user and root could have put there what a path leads to, and what to do about
 * it; empty when nobody could. Looked at are owner and mode of the directory, of every directory above it
 * (others may write those only with the sticky bit) and of every symbolic link on the way.
 */
std::string distrust_of_directory(const std::filesystem::path& directory);

/** The same of a file in a trusted directory. A symbolic link is not trusted; a file that is not there is. */
std::string distrust_of_file(const std::filesystem::path& file);

}  // namespace dlprim
