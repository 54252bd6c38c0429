#include "server/memory/power_cut.hpp"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

namespace fs = std::filesystem;

// What is safe of a file, and what has been written to it since.
struct Shadow {
  std::string safe;
  struct Write {
    sqlite3_int64 at;
    std::string bytes;
  };
  std::vector<Write> since;
  sqlite3_int64 truncated_to = -1;
  bool is_safe = false;       // it exists after a power cut
  bool is_deleted = false;    // though its folder has not been synced since, so that a power cut brings it back
  bool syncs_folder = false;  // with its first sync, as the system's files do that SQLite makes beside a database

  void sync() {
    if (truncated_to >= 0) safe.resize(static_cast<std::size_t>(truncated_to));
    for (const Write& write : since) {
      const auto end = static_cast<std::size_t>(write.at) + write.bytes.size();
      if (safe.size() < end) safe.resize(end);
      safe.replace(static_cast<std::size_t>(write.at), write.bytes.size(), write.bytes);
    }
    since.clear();
    truncated_to = -1;
    is_safe = true;
  }
};

std::map<std::string, Shadow>& shadows() {
  static std::map<std::string, Shadow> all;
  return all;
}

// What was deleted in the folder stays deleted from now on.
void sync_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::erase_if(shadows(), [&folder](const auto& each) {
    return each.second.is_deleted && fs::path(each.first).parent_path() == folder;
  });
}

sqlite3_vfs* system_vfs() { return sqlite3_vfs_find("unix"); }

// SQLite gives room for this; the system's own file follows behind it.
struct CutFile {
  sqlite3_file base;
  Shadow* shadow;  // null: a file that is of no consequence
  const char* path;
  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
CutFile& cut(sqlite3_file* file) { return *reinterpret_cast<CutFile*>(file); }
sqlite3_file* in(sqlite3_file* file) { return cut(file).inner(); }

int close_file(sqlite3_file* f) { return in(f)->pMethods->xClose(in(f)); }
int read_file_at(sqlite3_file* f, void* to, int count, sqlite3_int64 at) {
  return in(f)->pMethods->xRead(in(f), to, count, at);
}
int write_file_at(sqlite3_file* f, const void* from, int count, sqlite3_int64 at) {
  if (cut(f).shadow != nullptr) {
    cut(f).shadow->since.push_back({at, std::string(static_cast<const char*>(from), static_cast<std::size_t>(count))});
  }
  return in(f)->pMethods->xWrite(in(f), from, count, at);
}
int truncate_file(sqlite3_file* f, sqlite3_int64 size) {
  if (cut(f).shadow != nullptr) {
    cut(f).shadow->truncated_to = size;
    std::erase_if(cut(f).shadow->since, [size](const auto& write) { return write.at >= size; });
  }
  return in(f)->pMethods->xTruncate(in(f), size);
}
int sync_file(sqlite3_file* f, int flags) {
  if (cut(f).shadow != nullptr) {
    cut(f).shadow->sync();
    if (std::exchange(cut(f).shadow->syncs_folder, false)) sync_folder_of(cut(f).path);
  }
  return in(f)->pMethods->xSync(in(f), flags);
}
int size_of_file(sqlite3_file* f, sqlite3_int64* size) { return in(f)->pMethods->xFileSize(in(f), size); }
int lock_file(sqlite3_file* f, int how) { return in(f)->pMethods->xLock(in(f), how); }
int unlock_file(sqlite3_file* f, int how) { return in(f)->pMethods->xUnlock(in(f), how); }
int is_locked(sqlite3_file* f, int* locked) { return in(f)->pMethods->xCheckReservedLock(in(f), locked); }
int control_file(sqlite3_file* f, int what, void* with) { return in(f)->pMethods->xFileControl(in(f), what, with); }
int sector_of(sqlite3_file* f) { return in(f)->pMethods->xSectorSize(in(f)); }
int traits_of(sqlite3_file*) { return 0; }  // nothing is promised of writes that are not synced
int map_shared(sqlite3_file* f, int page, int size, int extend, void volatile** to) {
  return in(f)->pMethods->xShmMap(in(f), page, size, extend, to);
}
int lock_shared(sqlite3_file* f, int offset, int count, int flags) {
  return in(f)->pMethods->xShmLock(in(f), offset, count, flags);
}
void barrier(sqlite3_file* f) { in(f)->pMethods->xShmBarrier(in(f)); }
int unmap_shared(sqlite3_file* f, int remove) { return in(f)->pMethods->xShmUnmap(in(f), remove); }

const sqlite3_io_methods kMethods{
    2,           close_file,  read_file_at, write_file_at, truncate_file, sync_file, size_of_file,
    lock_file,   unlock_file, is_locked,    control_file,  sector_of,     traits_of, map_shared,
    lock_shared, barrier,     unmap_shared, nullptr,       nullptr};

int open_file(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  std::memset(static_cast<void*>(&cut(file)), 0, sizeof(CutFile));
  const int code = system_vfs()->xOpen(system_vfs(), path, in(file), flags, out_flags);
  if (code != SQLITE_OK) return code;
  if (path != nullptr) {
    Shadow& shadow = shadows()[path];
    if (shadow.is_deleted) shadow = Shadow{};
    constexpr int kBesideDatabase = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    shadow.syncs_folder = !shadow.is_safe && (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kBesideDatabase) != 0;
    cut(file).shadow = &shadow;
    cut(file).path = path;  // SQLite keeps it for as long as the file is open
  }
  file->pMethods = &kMethods;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs*, const char* path, int sync) {
  if (const auto found = shadows().find(path); found != shadows().end()) found->second.is_deleted = true;
  if (sync != 0) sync_folder_of(path);
  return system_vfs()->xDelete(system_vfs(), path, sync);
}

}  // namespace

const char* power_cut_vfs() {
  static sqlite3_vfs vfs;
  if (vfs.zName == nullptr) {
    vfs = *system_vfs();
    vfs.pNext = nullptr;
    vfs.zName = "power_cut";
    vfs.szOsFile = static_cast<int>(sizeof(CutFile)) + system_vfs()->szOsFile;
    vfs.xOpen = open_file;
    vfs.xDelete = delete_file;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) throw std::runtime_error("the file system cannot be registered");
  }
  return vfs.zName;
}

void cut_power(const std::string& directory, const std::string& into) {
  for (const auto& [path, shadow] : shadows()) {
    const fs::path file(path);
    if (!shadow.is_safe || file.parent_path() != fs::path(directory)) continue;
    std::ofstream copy(fs::path(into) / file.filename(), std::ios::binary);
    copy.write(shadow.safe.data(), static_cast<std::streamsize>(shadow.safe.size()));
  }
}

}  // namespace rkllm_mcp::test
