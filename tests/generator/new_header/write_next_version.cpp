// write_next_version REPOSITORY FOLDER: makes the folder that rkllm-bindgen --root generates version 1.4.0 from.
#include "next_version.hpp"

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  try {
    if (argc != 3) throw std::invalid_argument("usage: write_next_version REPOSITORY FOLDER");
    bindgen::test::write_next_version(argv[1], argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
