// What both texts are read into: functions as lists of instructions, each behind its operands.
#pragma once

#include <map>
#include <string>

#include "import/operators.h"
#include "import/scan.h"
#include "spec/dtype.h"

namespace morello::hlo {

struct TensorType {
  Token at;
  Dtype dtype = Dtype::f32;
  bool pred = false;  // booleans: u8, 0 or 1
  std::vector<i64> shape;
  std::vector<int> minor_to_major;  // empty: the last axis is contiguous
  std::vector<i64> written = {};    // the shape in the text, where reshapes have made another one
};
std::string str(const TensorType& t);  // "f32[8,512]", as in the text
// Axes from the one whose elements are adjacent outwards.
std::vector<int> outwards(const TensorType& t);

struct Instruction {
  Token at;    // the operator as it is written
  Token name;  // of what it makes, without the sign
  const Operator* op = nullptr;
  std::vector<int> args;  // instructions of the same function
  TensorType type;        // of the result
  // What there is of attributes, by the names of attributes.cc.
  std::map<std::string_view, Numbers> numbers;
  std::map<std::string_view, Token> words;
  double constant = 0;  // Kind::kConstant: every element
  i64 parameter = 0;    // Kind::kParameter: its number
  int region = -1;      // Kind::kReduce: the function that joins two elements
};

struct Function {
  Token name;
  bool is_public = false;
  std::vector<Instruction> instructions;
  std::vector<int> results;  // instructions
};

struct Module {
  Token name;  // empty text: none
  std::vector<Function> functions;
};

Result<std::vector<Module>> parse_hlo(const Source& source);
Result<std::vector<Module>> parse_stablehlo(const Source& source);

// Without calls, tuples and functions of reductions (Instruction::words has "reducer"), and with
// parameters in front, by their numbers.
Result<Function> inlined(const Module& m, const Function& f, const Source& source);

// What is common to both: elements of a constant that are all the same, and an operator's row.
bool read_constant(const Source& source, const Token& value, Instruction& out, Diagnostic& error);
bool find_row(const Source& source, const Token& written, std::string_view name, Instruction& out,
              Diagnostic& error);
// The operator that a custom call stands for: `mhlo.erf` is erf.
std::string_view custom_target(const Instruction& call);
// Numbers and words of an attribute, or nothing if it says nothing about the meaning; an error for
// one that is not known.
bool read_attribute(const Source& source, const Token& name, const Token& value, Instruction& out,
                    Diagnostic& error);

}  // namespace morello::hlo
