// The recorder that the parts of the laboratory require. No test of theirs reads it.
#pragma once

#include "lab/origin.hpp"

namespace tabacus::lab::test {

inline FootprintRecorder recorder;

}  // namespace tabacus::lab::test
