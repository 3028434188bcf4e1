// The legality rules of Impl, one function per node. A message starts with the line of the node it
// is about.

#include <algorithm>

#include "impl/clip.h"
#include "impl/shares.h"
#include "impl/text.h"

namespace morello {
namespace {

class Verifier {
 public:
  explicit Verifier(const Problem& p) : p_(p), c_(*p.computation), f_(p.family) {
    for (size_t o = 0; o < c_.operands.size(); ++o)
      root_.push_back(p.root_address(static_cast<int>(o)));
    clipped_ = clipped(c_);
  }

  // What is wrong below this node, or "".
  std::string node(const Spec& spec, const Impl& impl) const {
    std::string why = spec_problem(spec);
    if (why.empty()) why = region_problem(spec, impl);
    if (why.empty()) why = std::visit([&](const auto& n) { return problem(spec, n); }, impl.node);
    if (!why.empty()) return headline(p_, impl) + ": " + why;
    const bool block = std::holds_alternative<Block>(impl.node);
    for (const Child& child : children(p_, spec, impl)) {
      if (block && is_fill(*child.impl)) continue;  // checked with the Block
      if (std::string below = node(child.spec, *child.impl); !below.empty()) return below;
    }
    return "";
  }

 private:
  std::string spec_problem(const Spec& spec) const;
  std::string sums_problem(const Spec& spec) const;
  std::string region_problem(const Spec& spec, const Impl& impl) const;
  std::string parallel_problem(const Spec& spec, const Loop& n) const;
  std::string shares_problem(const Spec& spec, const Loop& n) const;
  std::string problem(const Spec& spec, const Loop& n) const;
  std::string problem(const Spec& spec, const Move& n) const;
  std::string ahead_problem(const Spec& spec, const Move& n) const;
  std::string problem(const Spec& spec, const Clip& n) const;
  std::string problem(const Spec& spec, const Block& n) const;
  std::string problem(const Spec& spec, const Call& n) const;
  std::string problem(const Spec& spec, const Hole& n) const;
  std::string loop_children_problem(const Spec& spec, const Loop& n) const;
  std::string block_problem(const Spec& spec, const Loop& n) const;
  std::string streaming_problem(const Spec& spec, const Call& n) const;
  std::string leaf_extent_problem(const Spec& spec) const;
  std::string load_problem(const Spec& spec, int operand) const;
  std::string reduction_step_problem(const Spec& spec, int operand) const;

  static bool is_fill(const Impl& impl) {
    const Call* call = std::get_if<Call>(&impl.node);
    return call && call->kind == Call::Kind::kFill;
  }
  bool packable(int operand) const { return !f_.packed[operand].digits.empty(); }
  const std::string& label(int operand) const { return c_.operands[operand].name; }
  // Where the operand of this Spec lies, up to a constant offset.
  AddressMap address(const Spec& spec, int operand) const {
    return spec.place[operand].packed ? f_.packed[operand].address(spec.extent) : root_[operand];
  }

  const Problem& p_;
  const Computation& c_;
  const Family& f_;
  std::vector<AddressMap> root_;
  std::vector<Clipped> clipped_;
};

// Steps along `dim` must be multiples of this: the digits of one dim chain, so that the largest
// block is a multiple of the others.
i64 largest_block(const AddressMap& map, int dim) {
  i64 block = 1;
  for (const AddressTerm& t : map.terms)
    if (t.dim == dim) block = std::max(block, t.mod == 0 ? t.div : t.div * t.mod);
  return block;
}

std::string Verifier::spec_problem(const Spec& spec) const {
  if (!spec.accumulate) return "";
  if (!c_.reduces()) return "only a sum accumulates";
  return sums_problem(spec);
}

// What holds sums that are not complete.
std::string Verifier::sums_problem(const Spec& spec) const {
  const int out = c_.inputs();
  if (c_.gathers_in_output() || spec.place[out].packed) return "";
  if (!c_.finish.empty())
    return fmt::format("{} holds what is made of sums: only a copy of it accumulates", label(out));
  return fmt::format("{} is {} here and sums are {}: only a copy of it accumulates", label(out),
                     name(c_.output().dtype), name(c_.compute));
}

std::string Verifier::problem(const Spec& spec, const Loop& n) const {
  if (n.tile < 1 || n.tile >= spec.extent[n.dim])
    return fmt::format("the tile must be at least 1 and less than the extent {}",
                       spec.extent[n.dim]);
  if (uncut_dims(clipped_, spec.uncut) >> n.dim & 1)
    return fmt::format("windows along {} reach beyond what they read: `clip` comes first",
                       c_.dims[n.dim].name);
  if (std::string why = parallel_problem(spec, n); !why.empty()) return why;
  if (std::string why = loop_children_problem(spec, n); !why.empty()) return why;
  return block_problem(spec, n);
}

// All tasks of a region are started at once: between two of its loops there is nothing.
std::string Verifier::region_problem(const Spec& spec, const Impl& impl) const {
  if (!in_region(p_, spec) || spec.threads <= 1) return "";
  const Loop* loop = std::get_if<Loop>(&impl.node);
  if ((loop && loop->parallel) || std::holds_alternative<Hole>(impl.node)) return "";
  return fmt::format("directly inside a parallel loop that leaves {} threads stands another",
                     spec.threads);
}

std::string Verifier::parallel_problem(const Spec& spec, const Loop& n) const {
  if (!n.parallel) return n.threads == 1 ? "" : "only a parallel loop leaves threads";
  if (spec.threads <= 1) return "there is one thread here";
  if (n.threads < 1 || n.threads >= spec.threads)
    return fmt::format("leaves 1 to {} threads to its steps", spec.threads - 1);
  return c_.dims[n.dim].reduction ? shares_problem(spec, n) : "";
}

std::string Verifier::shares_problem(const Spec& spec, const Loop& n) const {
  const std::string& dim = c_.dims[n.dim].name;
  const int out = c_.inputs();
  if (spec.accumulate) return "the output has a value already, and no share begins with it";
  if (in_region(p_, spec))
    return fmt::format("the shares of {} are added when the region is over: its loop is the first",
                       dim);
  if (std::string why = sums_problem(spec); !why.empty()) return why;
  if (root_[out].run_time())
    return fmt::format("the strides of {} are known at run time only, and so is what a copy takes",
                       label(out));
  for (size_t d = 0; d < c_.dims.size(); ++d)
    if (!c_.dims[d].reduction && spec.extent[d] != c_.dims[d].extent)
      return fmt::format("a share has a copy of all of {}: loops over {} come inside", label(out),
                         c_.dims[d].name);
  return "";
}

std::string Verifier::loop_children_problem(const Spec& spec, const Loop& n) const {
  const i64 extent = spec.extent[n.dim];
  const bool peeled = c_.dims[n.dim].reduction && !spec.accumulate && !n.parallel;
  const i64 steps = extent / n.tile - peeled;
  const i64 remainder = extent % n.tile;
  struct Part {
    const char* name;
    bool given, wanted;
  };
  for (const Part& part :
       {Part{"first", n.first != nullptr, peeled}, Part{"body", n.body != nullptr, steps > 0},
        Part{"rest", n.rest != nullptr, remainder > 0}}) {
    if (part.given == part.wanted) continue;
    return fmt::format("{} `{}`: {} steps of {} leave {}{}", part.given ? "needs no" : "lacks",
                       part.name, extent / n.tile, n.tile, remainder,
                       !c_.dims[n.dim].reduction || n.parallel ? ""
                       : spec.accumulate                       ? ", accumulating"
                                                               : ", the first does not accumulate");
  }
  return "";
}

std::string Verifier::block_problem(const Spec& spec, const Loop& n) const {
  for (size_t o = 0; o < c_.operands.size(); ++o) {
    const int operand = static_cast<int>(o);
    const i64 block = largest_block(address(spec, operand), n.dim);
    if (n.tile % block != 0)
      return fmt::format("the tile is no multiple of the blocks of {} in {}", block,
                         label(operand));
  }
  return "";
}

std::string Verifier::problem(const Spec& spec, const Move& n) const {
  const Place& place = spec.place[n.operand];
  if (!n.body) return "lacks a child";
  if (n.level < kL1 || n.level > kL3) return "moves go to L1, L2 or L3";
  // A copy may stay at the level: there it changes the order.
  if (n.level > place.level || (n.level == place.level && !n.copy))
    return fmt::format("{} is at {} already", label(n.operand), level_name(place.level));
  if (n.copy && place.packed) return fmt::format("{} is packed already", label(n.operand));
  if (n.copy && !packable(n.operand))
    return fmt::format("the family has no packed order for {}", label(n.operand));
  for (const Clipped& x : clipped_)
    if (n.copy && n.operand == x.operand && (spec.uncut >> x.dim & 1))
      return fmt::format(
          "{} has nothing where windows along {} reach beyond it: `clip` comes first",
          label(n.operand), c_.dims[x.dim].name);
  return n.ahead_dim < 0 ? "" : ahead_problem(spec, n);
}

std::string Verifier::ahead_problem(const Spec& spec, const Move& n) const {
  if (n.operand == c_.inputs()) return "only of inputs is asked for what is next";
  if (!n.copy && !n.ahead_in_leaves) return "below a view leaves ask for what is next";
  if (!n.copy && n.level > kL2) return "what a view reads next is asked for to L1 or L2";
  const bool to_l1 = !n.copy && n.level == kL1;
  if ((to_l1 ? f_.isa->prefetch : f_.isa->prefetch_to_l2).empty())
    return fmt::format("{} has no prefetch to {}", f_.isa->name, level_name(to_l1 ? kL1 : kL2));
  const AddressMap map = address(spec, n.operand);
  if (!map.touches(n.ahead_dim))
    return fmt::format("{} has nothing further along {}", label(n.operand),
                       c_.dims[n.ahead_dim].name);
  if (const i64 block = largest_block(map, n.ahead_dim); spec.extent[n.ahead_dim] % block != 0)
    return fmt::format("{} here is no multiple of the blocks of {} in {}",
                       c_.dims[n.ahead_dim].name, block, label(n.operand));
  return "";
}

std::string Verifier::problem(const Spec& spec, const Clip& n) const {
  const auto x = std::find_if(clipped_.begin(), clipped_.end(),
                              [&](const Clipped& other) { return other.dim == n.dim; });
  if (x == clipped_.end() || !(spec.uncut >> n.dim & 1))
    return fmt::format("no window reaches beyond what it reads along {} here", c_.dims[n.dim].name);
  if (n.parts.size() != static_cast<size_t>(shapes_of(x->segments)) ||
      std::find(n.parts.begin(), n.parts.end(), nullptr) != n.parts.end())
    return fmt::format("segments have {} shapes, and each one part", shapes_of(x->segments));
  for (size_t o = 0; o < c_.operands.size(); ++o)
    if (!cuts_whole_blocks(*x, address(spec, static_cast<int>(o))))
      return fmt::format("segments begin within blocks of {}", label(static_cast<int>(o)));
  return "";
}

std::string Verifier::problem(const Spec& spec, const Block& n) const {
  if (spec.accumulate) return "the output has a value already: nothing to fill";
  if (!c_.reduces()) return "only a sum can be added to a filled output";
  if (n.parts.size() != 2 || !n.parts[0] || !n.parts[1] || !is_fill(*n.parts[0]) ||
      is_fill(*n.parts[1]))
    return "the parts are `fill` and what adds to it";
  return "";
}

std::string Verifier::problem(const Spec& spec, const Hole& n) const {
  if (n.spec == spec) return "";
  return fmt::format("stands where the Spec is {}", str(spec, c_));
}

std::string Verifier::problem(const Spec& spec, const Call& n) const {
  if (n.kind == Call::Kind::kFill) return "computes nothing: it belongs at the head of a block";
  if (spec.uncut != 0) return "windows reach beyond what they read: `clip` comes first";
  if (f_.apart >= 0 && p_.part.is_tile())
    return fmt::format("a part of a stage takes rows of {} side by side, not from parts of all",
                       c_.dims[f_.apart].name);
  if (f_.joined >= 0 && p_.part.is_tile()) return "rows of a part of a stage are not joined";
  if (f_.registers > f_.isa->vector_registers)
    return fmt::format("the leaf needs {} vector registers of {}", f_.registers,
                       f_.isa->vector_registers);
  if (p_.part.asked >= 0 &&
      (n.ahead_operand != p_.part.asked || n.ahead_bytes != p_.part.asked_bytes ||
       n.ahead_to != p_.part.asked_to))
    return fmt::format("this part asks for {} {} bytes ahead, to {}", label(p_.part.asked),
                       p_.part.asked_bytes, level_name(p_.part.asked_to));
  if (n.ahead_operand == c_.inputs() && n.ahead_bytes != 0)
    return "an output is asked for 0 bytes ahead";
  const bool stream = n.ahead_operand >= 0 && n.ahead_operand < c_.inputs();
  if (stream ? n.ahead_bytes < 1 : n.ahead_bytes != 0)
    return "the distance of a prefetch is at least one byte";
  if (n.ahead_to != kL1 && (!stream || n.ahead_to != kL2))
    return "an input is prefetched to L1 or L2, an output to L1";
  if (n.ahead_to == kL2 && f_.isa->prefetch_to_l2.empty())
    return fmt::format("{} has no prefetch to L2", f_.isa->name);
  if (std::string why = streaming_problem(spec, n); !why.empty()) return why;
  if (std::string why = leaf_extent_problem(spec); !why.empty()) return why;
  for (size_t o = 0; o < c_.operands.size(); ++o) {
    const int operand = static_cast<int>(o);
    std::string why = operand < c_.inputs() ? load_problem(spec, operand) : "";
    if (why.empty()) why = reduction_step_problem(spec, operand);
    if (!why.empty()) return why;
  }
  const int out = c_.inputs();
  const Dtype stored = p_.place_dtype(out, spec.place[out].packed);
  if (!store_access(f_, spec.place[out].packed)->takes(stored))
    return fmt::format("the family cannot store {} as {}", label(out), name(stored));
  return "";
}

std::string Verifier::streaming_problem(const Spec& spec, const Call& n) const {
  if (!n.streaming) return "";
  if (n.ahead_operand == c_.inputs()) return "lines that are not read are not asked for";
  if (spec.place[c_.inputs()].packed) return "a copy is read again";
  return p_.streaming_problem();
}

std::string Verifier::leaf_extent_problem(const Spec& spec) const {
  for (size_t d = 0; d < c_.dims.size(); ++d)
    if (!c_.dims[d].reduction && spec.extent[d] > f_.quantum[d])
      return fmt::format("{} is {} here and the leaf takes {}", c_.dims[d].name, spec.extent[d],
                         f_.quantum[d]);
  if (f_.joined >= 0 && spec.extent[f_.lane] != c_.dims[f_.lane].extent)
    return fmt::format("rows along {} are joined: all {} of each, not {}", c_.dims[f_.lane].name,
                       c_.dims[f_.lane].extent, spec.extent[f_.lane]);
  return "";
}

// An input that was not packed must lie in memory as the leaf's access wants it. loads_given()
// decides; what follows only finds the words.
std::string Verifier::load_problem(const Spec& spec, int operand) const {
  const Access& access = *f_.loads[operand];
  const Operand& o = c_.operands[operand];
  if (spec.place[operand].packed)
    return packable(operand) ? "" : o.name + " is packed and the family has no order for it";
  if (access.kind == Access::Kind::kVector && f_.lane >= 0) {
    const i64 neighbours = access.lanes * access.regs * access.group;
    for (const AddressTerm& t : root_[operand].terms)
      if (t.dim == f_.lane && t.div == 1 && t.mod > 1 && t.mod % neighbours != 0)
        return fmt::format("{} must be copied: {} reads {} neighbours and its blocks have {}",
                           o.name, access.name, neighbours, t.mod);
  }
  if (loads_given(f_, c_, operand)) return "";
  std::string why = "it is to be packed";
  if (!access.takes(o.dtype))
    why = fmt::format("it is {} and {} reads {}", name(o.dtype), access.name, name(access.memory));
  else if (f_.lane >= 0 && access.kind == Access::Kind::kVector &&
           root_[operand].unit_stride(f_.lane) != 1)
    why = fmt::format("{} reads neighbours along {} and they are {} apart", access.name,
                      c_.dims[f_.lane].name, root_[operand].unit_stride(f_.lane));
  else if (access.regs != 1 || access.group != 1)
    why = fmt::format("{} reads a packed order", access.name);
  return fmt::format("{} must be copied: {}", o.name, why);
}

// The leaf walks along a reduction in steps of its quantum.
std::string Verifier::reduction_step_problem(const Spec& spec, int operand) const {
  const AddressMap map = address(spec, operand);
  for (size_t d = 0; d < c_.dims.size(); ++d) {
    const i64 block = largest_block(map, static_cast<int>(d));
    if (c_.dims[d].reduction && f_.quantum[d] % block != 0 && spec.extent[d] > block)
      return fmt::format("the leaf takes {} in steps of {}, across the blocks of {} in {}",
                         c_.dims[d].name, f_.quantum[d], block, label(operand));
  }
  return "";
}

}  // namespace

std::string verify(const Problem& p, const Spec& spec, const Impl& impl) {
  return Verifier(p).node(spec, impl);
}

}  // namespace morello
