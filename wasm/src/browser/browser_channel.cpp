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
    ~BrowserChannel() override { host::channel_close(id_); }

    void post(std::string_view message) override { host::channel_post(id_, message); }
    void post_deferred(std::string_view message) override {
        host::channel_post_deferred(id_, message);
    }
    void on_message(Function<void(std::string_view)> callback) override {
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
    const int id = static_cast<int>(next_++);
    if (!host::channel_open(id, name)) return nullptr;
    return std::make_unique<BrowserChannel>(id, listeners_);
}

}  // namespace tabacus::browser
