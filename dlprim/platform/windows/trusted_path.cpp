#include "dlprim/platform/trusted_path.h"

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

#include <array>
#include <memory>
#include <system_error>
#include <type_traits>
#include <vector>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

namespace fs = std::filesystem;

/** Who has these may replace an entry of a folder, or take the right to. */
constexpr DWORD rights_to_replace =
    FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_ALL | GENERIC_WRITE;
/** Who has these may also change what is in a file, or add entries to a folder. */
constexpr DWORD rights_to_change = rights_to_replace | FILE_WRITE_DATA | FILE_APPEND_DATA;

struct Close {
  void operator()(HANDLE handle) const { CloseHandle(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<HANDLE>, Close>;

struct Free {
  void operator()(void* memory) const { LocalFree(memory); }
};

using Sid = std::vector<unsigned char>;

Sid copy_of(PSID sid) {
  Sid copy(GetLengthSid(sid));
  CopySid(static_cast<DWORD>(copy.size()), copy.data(), sid);
  return copy;
}

Sid this_user() {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened)) return {};
  const Handle token(opened);
  std::array<unsigned char, sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE> user{};
  DWORD size = 0;
  if (!GetTokenInformation(opened, TokenUser, user.data(), static_cast<DWORD>(user.size()), &size)) return {};
  return copy_of(reinterpret_cast<TOKEN_USER*>(user.data())->User.Sid);
}

/** This user, and those who may do anything on the machine: administrators, the system, its installer. */
const std::vector<Sid>& trusted_users() {
  static const auto& users = *[] {
    auto* found = new std::vector<Sid>{this_user()};
    for (const wchar_t* text :
         {L"S-1-5-32-544", L"S-1-5-18", L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"}) {
      PSID sid = nullptr;
      if (!ConvertStringSidToSidW(text, &sid)) continue;
      const std::unique_ptr<void, Free> owned(sid);
      found->push_back(copy_of(sid));
    }
    return found;
  }();
  return users;
}

bool is_trusted(PSID sid) {
  for (const Sid& user : trusted_users())
    if (!user.empty() && EqualSid(const_cast<unsigned char*>(user.data()), sid)) return true;
  return false;
}

std::string name_of(PSID sid) {
  LPSTR text = nullptr;
  if (!ConvertSidToStringSidA(sid, &text)) return "another user";
  const std::unique_ptr<void, Free> owned(text);
  return text;
}

/** Whether an entry of an access list allows one of the rights to somebody who is not trusted; to whom. */
PSID stranger_of(ACE_HEADER* header, DWORD rights) {
  if (header->AceType != ACCESS_ALLOWED_ACE_TYPE || header->AceFlags & INHERIT_ONLY_ACE) return nullptr;
  auto* entry = reinterpret_cast<ACCESS_ALLOWED_ACE*>(header);
  PSID sid = &entry->SidStart;
  return (entry->Mask & rights) != 0 && !is_trusted(sid) ? sid : nullptr;
}

/** Follows links. */
Handle open_entry(const fs::path& path) {
  HANDLE handle = CreateFileW(path.c_str(), READ_CONTROL | FILE_READ_ATTRIBUTES,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                              FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  return Handle(handle == INVALID_HANDLE_VALUE ? nullptr : handle);
}

std::string system_error(const fs::path& path, DWORD number) {
  return concat(path.u8string(), ": ", std::system_category().message(static_cast<int>(number)));
}

std::string distrust_of_entry(const fs::path& path, DWORD rights) {
  const Handle handle = open_entry(path);
  if (!handle) return system_error(path, GetLastError());
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD error =
      GetSecurityInfo(handle.get(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                      &owner, nullptr, &list, nullptr, &descriptor);
  if (error != ERROR_SUCCESS) return system_error(path, error);
  const std::unique_ptr<void, Free> owned(descriptor);
  if (!owner || !is_trusted(owner))
    return concat(path.u8string(), " belongs to ", owner ? name_of(owner) : "nobody");
  if (!list) return concat("all users may write ", path.u8string());
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (!GetAce(list, i, &entry)) return system_error(path, GetLastError());
    if (PSID stranger = stranger_of(static_cast<ACE_HEADER*>(entry), rights))
      return concat(name_of(stranger), " may write ", path.u8string(), "; icacls shows and takes rights");
  }
  return {};
}

/** Without links; empty where there is nothing. */
fs::path real_path(const fs::path& path) {
  const Handle handle = open_entry(path);
  if (!handle) return {};
  std::wstring name(GetFinalPathNameByHandleW(handle.get(), nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
  if (name.empty()) return {};
  name.resize(GetFinalPathNameByHandleW(handle.get(), name.data(), static_cast<DWORD>(name.size()),
                                        FILE_NAME_NORMALIZED));
  constexpr std::wstring_view prefix = LR"(\\?\)";
  const bool is_local = name.compare(0, prefix.size(), prefix) == 0 && name.compare(5, 1, L":") == 0;
  return is_local ? name.substr(prefix.size()) : name;
}

}  // namespace

std::string distrust_of_directory(const fs::path& directory) {
  const fs::path real = real_path(directory);
  if (real.empty()) return system_error(directory, GetLastError());
  std::string reason = distrust_of_entry(real, rights_to_change);
  for (fs::path at = real; reason.empty() && at.has_relative_path();) {
    at = at.parent_path();
    reason = distrust_of_entry(at, rights_to_replace);
  }
  return reason;
}

std::string distrust_of_file(const fs::path& file) {
  const DWORD attributes = GetFileAttributesW(file.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return {};
  if (attributes & FILE_ATTRIBUTE_REPARSE_POINT)
    return concat(file.u8string(), " is a symbolic link; remove it");
  return distrust_of_entry(file, rights_to_change);
}

}  // namespace dlprim
