// Changing the stages of a Graph: stages come and go, and tensors keep their numbers meanwhile.
#pragma once

#include "spec/graph.h"

namespace morello {

struct Draft {
  struct Item {
    int tensor = 0;  // that it makes
    Stage stage;     // arguments are numbers of tensors
    Param made;
  };
  std::vector<Param> params;
  std::vector<Item> items;
  std::vector<int> results;
  int next = 0;  // the number of the next tensor

  Draft() = default;
  explicit Draft(const Graph& g);
  size_t find(int tensor) const;
  Item& at(int tensor) { return items[find(tensor)]; }
  // Before whatever reads it, or last.
  void insert_late(Item item);
  // As a Graph numbers tensors.
  int number(int tensor) const;
  Graph graph(Dims dims = Dims::kJoined) const;
  // With `sizes` where a stage has a dim whose size is known at run time only.
  KernelSpec kernel(const std::vector<RunTimeSize>& sizes) const;

 private:
  void number_all(std::vector<Stage>& stages, std::vector<Param>& tensors) const;
};

Term read_input(int operand, Dtype type = Dtype::f32);
Term read_extra(int operand, Dtype type = Dtype::f32);
Term binary(Fn fn, int a, int b);  // in f32

// Between stages: dense and row-major.
Operand between(const Operand& like, std::string name, Dtype dtype);
Param tensor_of(const Operand& o);

// Dims of an operand become others; -1: one of a single element, which needs none.
void map_dims(Operand& o, const std::vector<int>& to);

// A computation on elements of what another one makes, in the dims that these have. Its only
// operand is the output so far.
struct Elements {
  Computation c;
  std::vector<int> to;  // dims, from those of the other; -1: a reduction
};
Elements on_elements(const Computation& of, Operand output);

}  // namespace morello
