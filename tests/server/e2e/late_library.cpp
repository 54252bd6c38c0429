// The simulator behind a loading that hangs in each process but every second one: they are counted by the files that
// they make, "1", "2", ..., in the folder that $LATE_LIBRARY_STARTS names.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

extern const char version_text[];
const char version_text[] = "RKLLM SDK (version: 1.3.0)";

__attribute__((constructor)) static void hang_at_times() {
  const char* const folder = std::getenv("LATE_LIBRARY_STARTS");
  if (folder == nullptr) return;
  int number = 1;
  while (::open((folder + ("/" + std::to_string(number))).c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) < 0) ++number;
  if (number % 2 == 0) return;
  while (true) ::pause();
}
