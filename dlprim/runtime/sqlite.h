#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "dlprim/core/error.h"

struct sqlite3;
struct sqlite3_stmt;

/** The little of SQLite that the kernel cache needs, with results as exceptions and handles as objects. */
namespace dlprim::sqlite {

/** A SQLite call that did not succeed. */
class Error : public dlprim::Error {
 public:
  Error(int code, const std::string& message) : dlprim::Error(message), code_(code) {}

  /** The primary result code (SQLITE_BUSY, ...). */
  int code() const { return code_ & 0xff; }

  /** The file is not the database it should be: torn, no SQLite file, or with other tables than ours. */
  bool damaged() const;

  /** Another connection held the lock for longer than the busy timeout. */
  bool busy() const;

 private:
  int code_;
};

/** One connection. Not thread safe; not to be used or closed in a process forked after it was opened. */
class Database {
 public:
  enum class Access {
    read_write,  ///< creates the file; falls back to reading where the file is write protected
    immutable    ///< reads the file alone, without locks and without its WAL: for read-only directories
  };

  Database(const std::filesystem::path& file, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /** Runs one or more statements, results ignored. */
  void execute(const char* sql);

  /** First column of the first row; 0 or "" where there is none. */
  std::int64_t query_int(const char* sql);
  std::string query_text(const char* sql);

  /** How long a statement waits for locks of other connections. */
  void set_busy_timeout(std::chrono::milliseconds timeout);

  bool read_only() const;
  bool in_transaction() const;

  /** The file under the name this connection opened is no longer the file it has open. */
  bool moved() const;

  /** Leaves the WAL as it is when closing. Needed once moved(): a closing connection deletes the WAL by name.
   */
  void keep_wal_on_close();

  sqlite3* handle() const { return handle_; }

 private:
  sqlite3* handle_ = nullptr;
};

/** One prepared statement. Parameters count from 1, columns from 0, as in SQLite. */
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /** Bound memory must outlive the statement's last step(). */
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view bytes);

  /** True when there is a row to read. */
  bool step();

  std::int64_t integer(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

  /** Valid until the next step(). */
  std::string_view blob(int column) const;

 private:
  sqlite3_stmt* statement_ = nullptr;
};

/** A write transaction, rolled back unless committed. */
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
};

}  // namespace dlprim::sqlite
