#include "browser/browser_channel.hpp"

namespace tabacus::browser {

namespace {

class BrowserChannel final : public Channel {
  public:
    BrowserChannel(int id, Listeners<BrowserChannels::Message>& listeners)
        : id_(id), listeners_(listeners) {}
    BrowserChannel(const BrowserChannel&) = delete;
    BrowserChannel& operator=(const BrowserChannel&) = delete;
    BrowserChannel(BrowserChannel&&) = delete;
    BrowserChannel& operator=(BrowserChannel&&) = delete;
    ~BrowserChannel() override { call(Call::channel_close, {.object = id_}); }

    void post(std::string_view message) override {
        call(Call::channel_post, {.object = id_, .first = message});
    }
    void post_deferred(std::string_view message) override {
        call(Call::channel_post, {.object = id_, .number = 1, .first = message});
    }
    void on_message(std::function<void(std::string_view)> callback) override {
        subscription_ = listeners_.add(
            [id = id_, callback = std::move(callback)](const BrowserChannels::Message& message) {
                if (message.channel == id) callback(message.text);
            });
    }

  private:
    int id_;
    Listeners<BrowserChannels::Message>& listeners_;
    Subscription subscription_;
};

}  // namespace

std::unique_ptr<Channel> BrowserChannels::open(std::string_view name) {
    const int id = numbers_.take();
    if (call(Call::channel_open, {.object = id, .first = name}) == 0) return nullptr;
    return std::make_unique<BrowserChannel>(id, listeners_);
}

}  // namespace tabacus::browser
