#include "sequence_diagram.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/explore/scenario.hpp"

namespace tabacus::lab {
namespace {

std::string padded(std::string text, std::size_t width, bool right) {
    const std::string spaces(width - std::min(width, text.size()), ' ');
    return right ? spaces + text : text + spaces;
}

/// Returns the lines of a step. If it has none, returns one with the step's name.
std::vector<TraceLine> lines_of(const Step& step) {
    if (!step.lines.empty()) return step.lines;
    return {{static_cast<std::uint32_t>(step.process >> 44U & 0xfffU), Object::turn,
             describe_process(step.process)}};
}

// --- The diagram: lanes from left to right, rows from top to bottom ------------------------------

enum class Shared : std::uint8_t { storage, database, locks, channel, clock };
constexpr std::array<std::string_view, 5> shared_names = {"storage", "database", "locks", "channel",
                                                          "clock"};

std::optional<Shared> shared_of(Object where) {
    switch (where) {
        case Object::item:
        case Object::copy:
        case Object::area:
            return Shared::storage;
        case Object::transaction:
        case Object::database:
            return Shared::database;
        case Object::lock:
            return Shared::locks;
        case Object::channel:
            return Shared::channel;
        case Object::now:
            return Shared::clock;
        default:
            return std::nullopt;
    }
}

/// Whether the arrow of a line points from the shared part to the tab, and not the other way.
bool arrives(const TraceLine& line) {
    const std::string_view text = line.text;
    if (line.where == Object::now) return !text.starts_with("sets");
    if (line.where == Object::copy) return true;
    return text.starts_with("receives") || text.starts_with("is granted") ||
           text.starts_with("is refused") || text.starts_with("loses the lock") ||
           text.starts_with("has ");
}

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '&':
                safe += "&amp;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                // XML 1.0 does not allow control characters.
                safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return safe;
}

constexpr int lane_px = 170;
constexpr int margin_px = 90;
constexpr int row_px = 26;
constexpr int head_px = 84;
constexpr int letter_px = 9;  // the width of a letter of the title, which has the largest font

constexpr std::string_view style =
    "<style>"
    ":root{color-scheme:light dark}"
    ".ground{fill:#ffffff}.text{fill:#1b1f24}.faint{fill:#57606a}"
    ".life{stroke:#8c959f;stroke-dasharray:3 4}.arrow{stroke:#0550ae;fill:none}"
    ".tip{fill:#0550ae}.box{fill:#ddf4ff;stroke:#0550ae}.shared{fill:#f6f8fa;stroke:#57606a}"
    ".fault{fill:#a40e26}.mark{stroke:#a40e26;stroke-width:2}.wrong{fill:#a40e26;font-weight:600}"
    "text{font:12px ui-monospace,Menlo,Consolas,monospace}"
    ".title{font-weight:600;font-size:14px}"
    "@media(prefers-color-scheme:dark){"
    ".ground{fill:#0d1117}.text{fill:#e6edf3}.faint{fill:#9198a1}"
    ".life{stroke:#656c76}.arrow{stroke:#79c0ff}.tip{fill:#79c0ff}"
    ".box{fill:#0c2d6b;stroke:#79c0ff}.shared{fill:#161b22;stroke:#9198a1}"
    ".fault{fill:#ff9492}.mark{stroke:#ff9492}.wrong{fill:#ff9492}}"
    "</style>";

class Diagram {
  public:
    Diagram(const Trace& trace, std::string title) : trace_(trace), title_(std::move(title)) {
        for (const auto& step : trace.steps) {
            for (const auto& line : lines_of(step)) {
                tabs_ = std::max(tabs_, line.tab);
                if (const auto shared = shared_of(line.where)) {
                    used_.at(static_cast<std::size_t>(*shared)) = true;
                }
            }
        }
    }

    std::string draw() {
        std::size_t number = 0;
        for (const auto& step : trace_.steps) {
            ++number;
            for (const auto& line : lines_of(step)) draw_line(number, step, line);
        }
        if (!trace_.failure.empty()) {
            y_ += row_px;
            text(margin_px / 2, y_, "wrong", trace_.failure);
        }
        const auto height = y_ + row_px;
        const auto width = std::max({margin_px * 2 + lane_px * (lanes() - 1) + 120, 760,
                                     width_of(title_), margin_px + width_of(trace_.failure)});
        const auto size = std::to_string(width) + "\" height=\"" + std::to_string(height);
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"" +
               escaped(title_) + "\" viewBox=\"0 0 " + std::to_string(width) + " " +
               std::to_string(height) + "\" width=\"" + size + "\">" + std::string(style) +
               "<rect class=\"ground\" width=\"" + size + "\"/>" + heads(height) + body_ +
               "</svg>\n";
    }

  private:
    /// Returns a width that is enough for the text.
    static int width_of(const std::string& words) {
        return 24 + letter_px * static_cast<int>(words.size());
    }
    [[nodiscard]] int lanes() const {
        return static_cast<int>(tabs_) +
               static_cast<int>(std::count(used_.begin(), used_.end(), true));
    }
    [[nodiscard]] int x_of(std::uint32_t tab) const {
        return margin_px + lane_px * static_cast<int>(std::max(tab, 1U) - 1);
    }
    [[nodiscard]] int x_of(Shared shared) const {
        const auto before = static_cast<std::ptrdiff_t>(shared);
        return margin_px + lane_px * (static_cast<int>(tabs_) +
                                      static_cast<int>(
                                          std::count(used_.begin(), used_.begin() + before, true)));
    }

    void text(int x, int y, std::string_view css_class, std::string_view words) {
        body_ += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" class=\"" +
                 std::string(css_class) + "\">" + escaped(words) + "</text>";
    }

    void draw_line(std::size_t number, const Step& step, const TraceLine& line) {
        y_ += row_px;
        text(6, y_, "faint", std::to_string(number));
        const auto shared = shared_of(line.where);
        if (shared && line.tab != 0) {
            const auto tab = x_of(line.tab);
            const auto other = x_of(*shared);
            arrives(line) ? arrow(other, tab) : arrow(tab, other);
            text(tab + 8, y_ - 4, "text", line.text);
            return;
        }
        const auto x = shared ? x_of(*shared) : line.tab == 0 ? margin_px : x_of(line.tab);
        const bool fault = step.fault || line.where == Object::faults;
        if (fault) cross(x);
        text(x + 10, y_ + 4, fault ? "fault" : "text", line.text);
    }

    void arrow(int from, int to) {
        const auto y = std::to_string(y_);
        const int back = to > from ? -7 : 7;
        body_ += "<path class=\"arrow\" d=\"M" + std::to_string(from) + " " + y + "H" +
                 std::to_string(to + back) + "\"/><path class=\"tip\" d=\"M" + std::to_string(to) +
                 " " + y + "l" + std::to_string(back) + " -4v8z\"/>";
    }

    void cross(int x) {
        body_ += "<path class=\"mark\" d=\"M" + std::to_string(x - 5) + " " +
                 std::to_string(y_ - 5) + "l10 10m0 -10l-10 10\"/>";
    }

    std::string head(int x, std::string_view css_class, const std::string& name, int height) {
        const auto middle = std::to_string(x);
        return "<path class=\"life\" d=\"M" + middle + " " + std::to_string(head_px - 18) + "V" +
               std::to_string(height - row_px / 2) + "\"/><rect class=\"" + std::string(css_class) +
               "\" x=\"" + std::to_string(x - 45) + "\" y=\"" + std::to_string(head_px - 44) +
               "\" width=\"90\" height=\"26\" rx=\"4\"/><text class=\"text\" "
               "text-anchor=\"middle\" "
               "x=\"" +
               middle + "\" y=\"" + std::to_string(head_px - 27) + "\">" + escaped(name) +
               "</text>";
    }

    std::string heads(int height) {
        auto drawn = "<text class=\"text title\" x=\"12\" y=\"24\">" + escaped(title_) + "</text>";
        for (std::uint32_t tab = 1; tab <= tabs_; ++tab) {
            drawn += head(x_of(tab), "box", name_of(trace_.names, tab), height);
        }
        for (std::size_t i = 0; i < used_.size(); ++i) {
            if (!used_.at(i)) continue;
            drawn += head(x_of(static_cast<Shared>(i)), "shared", std::string(shared_names.at(i)),
                          height);
        }
        return drawn;
    }

    const Trace& trace_;
    std::string title_;
    std::uint32_t tabs_ = 1;
    std::array<bool, shared_names.size()> used_{};
    std::string body_;
    int y_ = head_px - 10;
};

}  // namespace

std::string trace_text(const Trace& trace) {
    std::string text;
    std::size_t number = 0;
    for (const auto& step : trace.steps) {
        ++number;
        for (const auto& line : lines_of(step)) {
            text += padded(std::to_string(number), 4, true) + "  " +
                    padded(name_of(trace.names, line.tab), 7, false) + "  " + line.text + "\n";
        }
    }
    if (!trace.failure.empty()) text += "      " + trace.failure + "\n";
    return text;
}

namespace {

/// Returns "tab 1 writes n = 1" of "writes n = 1", and "tab 1's timer is due" of "its timer is due".
std::string sentence_of(const std::string& name, std::uint32_t tab, const std::string& text) {
    constexpr std::string_view own = "its ";
    if (tab == 0) return text;
    return text.starts_with(own) ? name + "'s " + text.substr(own.size()) : name + " " + text;
}

}  // namespace

std::string story_text(const Trace& trace) {
    constexpr std::size_t lines_max = 200;
    std::vector<std::string> lines;
    for (const auto& step : trace.steps) {
        for (const auto& line : step.lines) {
            const auto& sentence = line.story.value_or(line.text);
            if (sentence.empty()) continue;
            lines.push_back(sentence_of(name_of(trace.names, line.tab), line.tab, sentence));
        }
    }
    if (!trace.failure.empty()) lines.push_back("the run fails: " + trace.failure);
    const auto left_out = lines.size() - std::min(lines.size(), lines_max);
    std::string text;
    for (std::size_t at = 0; at < lines.size(); ++at) {
        if (at == lines_max / 2 && left_out > 0) {
            text += "(" + std::to_string(left_out) + " lines are left out)\n";
            at += left_out;
        }
        text += lines[at] + "\n";
    }
    return text;
}

std::string sequence_diagram(const Trace& trace, const std::string& title) {
    return Diagram(trace, title).draw();
}

}  // namespace tabacus::lab
