// Names that are not to be used, and one that is.
#pragma once

class Announced;  // not a class of this file

struct Wrong {
  void function();
  std::shared_ptr<Forgotten> forgotten;
};

struct ThingManager {};
enum class GadgetKind { kOne };
