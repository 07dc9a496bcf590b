// A trace for people: as lines of text, and as a sequence diagram (SVG).
#pragma once

#include <string>

#include "lab/explore/schedule.hpp"

namespace tabacus::lab {

/// One line per thing that happened: its step's number, which tab, what. The failure comes last.
std::string trace_text(const Trace& trace);

/// A lifeline for each tab, and for storage, database, locks, channel and clock where they take
/// part; time goes down. Stands alone: its colours are in it, for light and for dark, with a
/// contrast of at least 4.5 : 1 for texts (WCAG 2.2, 1.4.3), and nothing depends on colour alone.
std::string sequence_diagram(const Trace& trace, const std::string& title);

}  // namespace tabacus::lab
