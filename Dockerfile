# The toolchain and the browsers on any system that runs containers: what `npm test` makes for itself on Debian.
# tests/node/scripts.test.js holds the list of packages against scripts/lib/recipe.js.
#
#     docker build --tag tabacus .
#     docker run --rm --interactive --tty --volume "$PWD:/tabacus" tabacus npm test
FROM debian:forky-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates git nodejs npm util-linux \
        emscripten cmake ninja-build clang clang-tidy-22 clang-format lld catch2 libclang-rt-dev \
        chromium firefox-esr webkitgtk-webdriver xvfb xauth postgresql \
    && ln --symbolic clang-tidy-22 /usr/bin/clang-tidy \
    && rm --recursive /var/lib/apt/lists/*

# Emscripten's system libraries are built by the first link, into a folder that every user may write.
ENV EM_CACHE=/var/cache/emscripten
RUN mkdir --mode=1777 /var/cache/emscripten

WORKDIR /tabacus
CMD ["npm", "test"]
