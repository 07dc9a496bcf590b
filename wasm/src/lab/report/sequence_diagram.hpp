// A trace as lines of text, as a story, and as a sequence diagram (SVG).
#pragma once

#include <string>

#include "lab/explore/schedule.hpp"

namespace tabacus::lab {

/// Returns one line of text for each trace line: the number of its step, the tab, and the text. The
/// failure is the last line.
std::string trace_text(const Trace& trace);

/// Returns the trace as sentences, a line each, without the lines that a story leaves out. The
/// failure is the last sentence. The middle of a long story is left out.
std::string story_text(const Trace& trace);

/// Returns the trace as an SVG. It has a lifeline for each tab, and for storage, database, locks,
/// channel and clock if the trace uses them; time runs downwards. The SVG contains its colours, for
/// light and for dark pages. Texts have a contrast of at least 4.5 : 1 (WCAG 2.2, 1.4.3), and no
/// information depends on colour alone.
std::string sequence_diagram(const Trace& trace, const std::string& title);

}  // namespace tabacus::lab
