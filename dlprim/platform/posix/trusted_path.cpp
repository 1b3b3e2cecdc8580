#include "dlprim/platform/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;
constexpr int kMostLinks = 40;  // as Linux has it

std::string distrust_of_owner(const fs::path& path, const struct stat& found) {
  if (found.st_uid == 0 || found.st_uid == geteuid()) return {};
  return concat(path.string(), " belongs to another user (uid ", found.st_uid, ")");
}

std::string distrust_of_mode(const fs::path& path, const struct stat& found) {
  if (!(found.st_mode & kWritableByOthers)) return {};
  return concat("other users may write ", path.string(), " (mode ", std::oct, found.st_mode & 07777,
                "); chmod go-w makes it yours alone");
}

std::string distrust_of_entry(const fs::path& path, const struct stat& found, bool is_parent) {
  const std::string owner = distrust_of_owner(path, found);
  if (!owner.empty() || S_ISLNK(found.st_mode)) return owner;
  return is_parent && (found.st_mode & S_ISVTX) ? std::string() : distrust_of_mode(path, found);
}

}  // namespace

std::string distrust_of_directory(const fs::path& directory) {
  std::list<fs::path> rest(directory.begin(), directory.end());
  fs::path at;
  for (int links = 0; !rest.empty();) {
    const fs::path before = at;
    at /= rest.front();
    rest.pop_front();
    struct stat found;
    if (lstat(at.c_str(), &found) != 0) return concat(at.string(), ": ", std::strerror(errno));
    const std::string reason = distrust_of_entry(at, found, !rest.empty());
    if (!reason.empty()) return reason;
    if (!S_ISLNK(found.st_mode)) continue;
    std::error_code error;
    const fs::path target = fs::read_symlink(at, error);
    if (error || ++links > kMostLinks) return concat(at.string(), ": a symbolic link that leads nowhere");
    rest.insert(rest.begin(), target.begin(), target.end());
    at = before;  // an absolute target replaces it
  }
  return {};
}

std::string distrust_of_file(const fs::path& file) {
  struct stat found;
  if (lstat(file.c_str(), &found) != 0) return {};
  if (S_ISLNK(found.st_mode)) return concat(file.string(), " is a symbolic link; remove it");
  return distrust_of_entry(file, found, false);
}

}  // namespace dlprim
