// Names that are not to be used, and one that is.
#pragma once

class Announced;  // not a class of this file

struct Wrong : std::enable_shared_from_this<Wrong> {
  void function();
  std::shared_ptr<Forgotten> forgotten;
  std::weak_ptr<const Watched> watched = weak_from_this();
  Immutable<Unchanged> unchanged;
};

inline const auto made = std::make_shared<const inner::Made>();

struct ThingManager {};
enum class GadgetKind { kOne };

// Two classes derive from it, and no contract test names it.
class Figure {
 public:
  virtual ~Figure() = default;
};
class Round final : public Figure {};
class Square final : public Figure {};

// A contract test names it, and one of the two that derive from it.
class Shape {
 public:
  virtual ~Shape() = default;
};
class Curve final : public Shape {};
class Polygon {
  class Edge final : public Shape {};
};

// Cannot be read.
class FigureThatHasSoLongANameThatWhatItDerivesFromStandsOnTheNextLine final
    : public FigureThatHasALongNameAsWellSoThatBothDoNotFit {};
