#include "dlprim/runtime/sqlite.h"

#include <sqlite3.h>

#include <cctype>

namespace dlprim::sqlite {
namespace {

void check(int code, sqlite3* handle) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  throw Error(code, concat("sqlite: ", handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
}

std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = file.has_root_name() ? "file:/" : "file:";  // Windows: /C:/folder
  for (const unsigned char c : file.generic_u8string()) {
    if (std::isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-') {
      uri += static_cast<char>(c);
    } else {
      uri += '%';
      uri += "0123456789ABCDEF"[c >> 4];
      uri += "0123456789ABCDEF"[c & 0xf];
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

bool Error::damaged() const {
  switch (code()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:       // our statements are fixed: only a foreign schema makes one wrong
    case SQLITE_CONSTRAINT:  // likewise: our rows break a constraint only where an index is torn
      return true;
    default:
      return false;
  }
}

bool Error::busy() const {
  return code() == SQLITE_BUSY || code() == SQLITE_LOCKED || code() == SQLITE_PROTOCOL;
}

Database::Database(const std::filesystem::path& file, Access access) {
  const bool immutable = access == Access::immutable;
  const int flags =
      immutable ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const std::string name = immutable ? immutable_uri(file) : file.u8string();
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const Error error(code, concat("sqlite: ", handle_ ? sqlite3_errmsg(handle_) : sqlite3_errstr(code)));
    sqlite3_close(handle_);
    throw error;
  }
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::execute(const char* sql) {
  check(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr), handle_);
}

std::int64_t Database::query_int(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::query_text(const char* sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

void Database::set_busy_timeout(std::chrono::milliseconds timeout) {
  sqlite3_busy_timeout(handle_, static_cast<int>(timeout.count()));
}

bool Database::read_only() const {
  return sqlite3_db_readonly(handle_, "main") == 1;
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

bool Database::moved() const {
  int moved = 0;
  const int code = sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code == SQLITE_OK && moved != 0;
}

void Database::keep_wal_on_close() {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, static_cast<int*>(nullptr));
}

Statement::Statement(Database& database, std::string_view sql) {
  check(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, nullptr),
        database.handle());
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, parameter, value), nullptr);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();  // a null pointer would bind NULL
  check(sqlite3_bind_text64(statement_, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8), nullptr);
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  check(sqlite3_bind_blob64(statement_, parameter, data, bytes.size(), SQLITE_STATIC), nullptr);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  check(code, sqlite3_db_handle(statement_));
  return code == SQLITE_ROW;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!data) return {};
  return std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!database_.in_transaction()) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {  // SQLite has rolled back by itself, or does so when the connection closes
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
}

}  // namespace dlprim::sqlite
