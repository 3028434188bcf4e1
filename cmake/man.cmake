# Makes the manual page from docs/cli.md, so that there is one text:
#   cmake -DPAGE=docs/cli.md -DOUTPUT=morello.1 -DVERSION=0.1.0 -P cmake/man.cmake
# Of Markdown it knows what that page uses: headings, paragraphs, code (fenced, indented, in a line),
# links and tables of two columns.
cmake_minimum_required(VERSION 3.25)

# `text` as roff: one line or a part of it.
function(inline_markup result text)
  string(REPLACE "\\|" "|" text "${text}")
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "\\[([^]]*)\\]\\([^)]*\\)" "\\1" text "${text}")
  string(REGEX REPLACE "`([^`]*)`" "\\\\fB\\1\\\\fR" text "${text}")
  string(REGEX REPLACE "^([.'])" "\\\\&\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(code_line result text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "^([.'])" "\\\\&\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

macro(end_code)
  if(in_code)
    string(APPEND page ".fi\n.RE\n")
    set(in_code OFF)
  endif()
endmacro()

macro(begin_code)
  if(NOT in_code)
    string(APPEND page ".PP\n.RS 4\n.nf\n")
    set(in_code ON)
  endif()
endmacro()

macro(add_line)
  if("${line}" MATCHES "^```")
    if(fenced)
      end_code()
      set(fenced OFF)
    else()
      begin_code()
      set(fenced ON)
    endif()
  elseif(fenced)
    code_line(roff "${line}")
    string(APPEND page "${roff}\n")
  elseif("${line}" MATCHES "^    (.*)$")
    begin_code()
    code_line(roff "${CMAKE_MATCH_1}")
    string(APPEND page "${roff}\n")
  else()
    end_code()
    add_text()
  endif()
endmacro()

# A line that is not code. The heading of a table, and the rule under it, are left out.
macro(add_text)
  if("${line}" MATCHES "^### (.*)$")
    inline_markup(roff "${CMAKE_MATCH_1}")
    string(APPEND page ".SS ${roff}\n")
  elseif("${line}" MATCHES "^## (.*)$")
    string(TOUPPER "${CMAKE_MATCH_1}" heading)
    inline_markup(roff "${heading}")
    string(APPEND page ".SH ${roff}\n")
  elseif("${line}" MATCHES "^# ")
    string(APPEND page ".SH DESCRIPTION\n")
  elseif("${line}" MATCHES "^\\|---|^\\| (option|key|code) \\|")
  elseif("${line}" MATCHES "^\\| (.*[^\\]) \\| (.*) \\|$")
    set(meaning "${CMAKE_MATCH_2}")
    inline_markup(roff "${CMAKE_MATCH_1}")
    inline_markup(meaning "${meaning}")
    string(APPEND page ".TP\n${roff}\n${meaning}\n")
  elseif("${line}" STREQUAL "")
    string(APPEND page ".PP\n")
  else()
    inline_markup(roff "${line}")
    string(APPEND page "${roff}\n")
  endif()
endmacro()

file(READ "${PAGE}" text)
set(page ".\\\" Made from docs/cli.md.
.TH MORELLO 1 \"\" \"Morello ${VERSION}\" \"User commands\"
.SH NAME
morello \\- neural\\-network kernels, searched for while a project builds
.SH SYNOPSIS
.B morello
.I command
.RI [ option ...]
")
set(in_code OFF)
set(fenced OFF)
# Lines are cut off one by one: a CMake list would merge those with brackets.
while(NOT text STREQUAL "")
  string(FIND "${text}" "\n" end)
  string(SUBSTRING "${text}" 0 ${end} line)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${text}" ${end} -1 text)
  add_line()
endwhile()
# A paragraph's beginning before a heading or an item, or twice, is nothing to typeset.
string(REGEX REPLACE "(\n\\.PP)+\n(\\.SH|\\.SS|\\.TP|\\.PP)" "\n\\2" page "${page}")
string(REGEX REPLACE "(\n\\.S[HS] [^\n]*)\n\\.PP\n" "\\1\n" page "${page}")
string(REGEX REPLACE "\n\\.PP\n$" "\n" page "${page}")
file(WRITE "${OUTPUT}" "${page}")
