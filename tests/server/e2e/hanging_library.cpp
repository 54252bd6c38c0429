// A runtime library of an old version whose loading never ends.
#include <unistd.h>

extern const char version_text[];
const char version_text[] = "RKLLM SDK (version: 1.2.3)";

__attribute__((constructor)) static void hang() {
  for (;;) ::pause();
}
