// Catch2, whichever of its two generations the distribution ships: 2.13 (Debian 12, Ubuntu 22.04) or 3 (later ones).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
