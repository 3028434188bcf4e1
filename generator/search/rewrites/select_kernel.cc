// Select kernel: compute all that is left with the family's leaf.
//
//   Spec  =>  call                     cost = leaf
//   Spec  =>  call ahead x D           the same, x's stream prefetched D bytes ahead: the machine's
//                                      distance, half or a quarter of it, or a part for each row;
//                                      or as far as the rows, or pieces of rows, that the next leaf
//                                      reads
//   Spec  =>  call ahead out 0         the same, the lines of the output asked for first
//   Spec  =>  call streaming           the same, the output stored past the caches
//
// Fires when every parallel extent is within the quantum and the operands lie where the leaf can
// read them. Prefetch is proposed for the longest sequential stream from L3 or memory: one stream
// with prefetch 16 KiB ahead went from 38 to 55 GB/s on Zen 5. A shorter distance misses less of a
// short stream; one that is no less than the stream hides nothing of it and is not proposed. Where
// the machine says that prefetch saves nothing, it only costs: 16 MiB from the L3 of a Granite
// Rapids take 584 us without, 590, 587, 609, 628 and 657 us 1, 2, 4, 8 and 16 KiB ahead.
//
// Where the machine says so (`prefetch_to`), lines come to L2 only: an L1 waits for few lines at
// once, whoever asks for them. (Zen 4, from memory, 8 KiB ahead, AVX2: bf16 4x2304x9216 2148 us to
// L1 and 1887 to L2; rows of a caller's matrix, 1x2304x9216, 3596 and 2295.)
//
// Stores wait for their lines one after the other, loads that nobody waits for do not. (Granite
// Rapids: 1000x1000 f32, written in tiles of 6 x 16, 1 x 64 and 1 x 96 from the L3, 159, 152 and
// 150 us; asked for first 133, 132 and 131; `rep stosb` takes 135. With 16 multiply-adds an element
// nothing is seen of it, nor from L2.) A leaf that accumulates loads them when its sums are done,
// and by then they are there. (Zen 3, f32 2048^3 in parts of 256 by blocks of 192 x 256 and 256 x
// 1024: sums that started from what is there 204 ms, added to it at the end 195, asked for first
// 192.)

#include <algorithm>
#include <array>

#include "search/rewrite.h"

namespace morello::rewrites {

constexpr std::int16_t kStreaming = 1;  // Decision::subject
constexpr i64 kToNextRows = 1;          // Decision::value, no distance: keys do not show it

static Call call_of(const Space& space, const Spec& spec, const Decision& d) {
  Call call = {
      .ahead_operand = d.detail - 1, .ahead_bytes = d.value, .streaming = d.subject == kStreaming};
  if (d.value == kToNextRows) call.ahead_bytes = space.to_next_rows(spec, call.ahead_operand);
  if (call.ahead_bytes > 0)
    call.ahead_to = space.prefetched_to(spec, call.ahead_operand, call.ahead_bytes);
  return call;
}

// Ways to ask for the lines of the operand with the longest stream ahead of time.
static void ahead_of_stream(const Space& space, const Spec& spec, Emit emit) {
  const int ahead = space.prefetchable(spec);
  if (ahead < 0) return;
  Candidate c;
  c.decision.detail = ahead + 1;
  const i64 line = space.machine().levels[kL1].line;
  const i64 stream = space.stream_bytes(spec, ahead, space.region(spec, ahead));
  std::array<i64, 4> parts = {1, 2, 4, space.rows_side_by_side(spec, ahead)};
  std::sort(parts.begin(), parts.end());
  i64 last = 0;
  for (i64 n : parts) {
    const i64 distance = space.machine().prefetch_bytes / n / line * line;
    if (distance == 0 || distance == last || distance >= stream) continue;
    last = c.decision.value = distance;
    c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
    emit(c);
  }
  if (space.to_next_rows(spec, ahead) <= last) return;
  c.decision.value = kToNextRows;
  c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
  emit(c);
}

// Of what others find near then, nothing else.
static void ahead_of_others(const Space& space, const Spec& spec, Emit emit) {
  const Part& part = space.problem().part;
  if (space.family().kernel->moves) return;
  Candidate c;
  c.decision = {.detail = part.asked + 1, .value = part.asked_bytes};
  for (const bool streaming : {false, true}) {
    if (streaming && !space.streams(spec)) return;
    if (streaming) c.decision.subject = kStreaming;
    c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
    emit(c);
  }
}

static void expand(const Space& space, const Spec& spec, Emit emit) {
  if (spec.threads > 1 || !space.leaf_covers(spec)) return;
  if (space.problem().part.asked >= 0) return ahead_of_others(space, spec, emit);
  Candidate c;
  c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
  emit(c);
  ahead_of_stream(space, spec, emit);
  if (space.asks_for_output(spec)) {
    c.decision.detail = space.computation().inputs() + 1;
    c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
    emit(c);
  }
  if (!space.streams(spec)) return;
  c.decision = {.subject = kStreaming};
  c.cost.base = space.leaf(spec, call_of(space, spec, c.decision));
  emit(c);
}

static ImplPtr build(const Space& space, const Spec& spec, const Decision& d,
                     std::span<const ImplPtr>) {
  return make_impl(call_of(space, spec, d));
}

extern const Rewrite select_kernel;
const Rewrite select_kernel = {.name = "select_kernel", .expand = expand, .build = build};

}  // namespace morello::rewrites
