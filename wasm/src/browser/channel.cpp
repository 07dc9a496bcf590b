#include "browser/channel.hpp"

namespace tabacus::browser {

using emscripten::val;

namespace {

class BrowserChannel final : public Channel {
 public:
    BrowserChannel(int id, val host, Listeners<BrowserChannels::Message>& listeners)
        : id_(id), host_(std::move(host)), listeners_(listeners) {}
    BrowserChannel(const BrowserChannel&) = delete;
    BrowserChannel& operator=(const BrowserChannel&) = delete;
    BrowserChannel(BrowserChannel&&) = delete;
    BrowserChannel& operator=(BrowserChannel&&) = delete;
    ~BrowserChannel() override { host_.call<void>("close", id_); }

    void post(std::string_view message) override {
        host_.call<void>("post", id_, std::string(message));
    }
    void on_message(std::function<void(std::string_view)> callback) override {
        subscription_ = listeners_.add(
            [id = id_, callback = std::move(callback)](const BrowserChannels::Message& message) {
                if (message.channel == id) callback(message.text);
            });
    }

 private:
    int id_;
    val host_;
    Listeners<BrowserChannels::Message>& listeners_;
    Subscription subscription_;
};

}  // namespace

std::unique_ptr<Channel> BrowserChannels::open(std::string_view name) {
    const int id = ++last_id_;
    if (!host_.call<bool>("open", id, std::string(name))) return nullptr;
    return std::make_unique<BrowserChannel>(id, host_, listeners_);
}

}  // namespace tabacus::browser
