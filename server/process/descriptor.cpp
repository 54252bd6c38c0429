#include "process/descriptor.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

DescriptorPair make_sockets(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pair of sockets");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// The limit that raise_file_limit() has raised; none: it has not.
struct FileLimit {
  bool is_raised = false;
  rlim_t before = 0;
};
FileLimit file_limit;

void mark_to_close(int number) {
  const int flags = ::fcntl(number, F_GETFD);
  if (flags >= 0) ::fcntl(number, F_SETFD, flags | FD_CLOEXEC);
}

// -1 of "." and "..".
int descriptor_in(const char* name) {
  int number = -1;
  for (; *name >= '0' && *name <= '9'; ++name) number = 10 * std::max(number, 0) + (*name - '0');
  return number;
}

// Where /proc is not there. The limit may be without end, which takes too long.
void mark_up_to_limit(int first) {
  constexpr rlim_t kMostTried = 65'536;
  rlimit limit{};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  const int end = static_cast<int>(is_known ? std::min(limit.rlim_cur, kMostTried) : kMostTried);
  for (int number = first; number < end; ++number) mark_to_close(number);
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(release());
}

DescriptorPair make_stream_pair() { return make_sockets(SOCK_STREAM); }

DescriptorPair make_seqpacket_pair() { return make_sockets(SOCK_SEQPACKET); }

DescriptorPair make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void close_on_exec_from(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, CLOSE_RANGE_CLOEXEC) != 0) close_on_exec_one_by_one(first);
}

void close_on_exec_one_by_one(int first) {
  const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return mark_up_to_limit(first);
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    const ssize_t size = ::getdents64(folder, entries.data(), entries.size());  // opendir() would allocate
    if (size <= 0) break;
    for (ssize_t at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      if (const int number = descriptor_in(entry->d_name); number >= first) mark_to_close(number);
      at += entry->d_reclen;
    }
  }
  ::close(folder);
}

void occupy_standard_descriptors() {
  // Output is opened to be read, so that writing fails, and the command says so.
  for (const auto& [number, access] :
       {std::pair(STDIN_FILENO, O_RDONLY), std::pair(STDOUT_FILENO, O_RDONLY), std::pair(STDERR_FILENO, O_WRONLY)}) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one: those below it have been looked at.
    if (::open("/dev/null", access) < 0) throw std::system_error(errno, std::generic_category(), "/dev/null");
  }
}

void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  file_limit = {true, files.rlim_cur};
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

void restore_file_limit() {
  rlimit files{};
  if (!file_limit.is_raised || ::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::min(file_limit.before, files.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &files);
}

bool is_open_for_writing(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace rkllm_mcp
