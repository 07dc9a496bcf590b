export default {
    compatibilityDate: '2026-01-01',
    telemetry: false,
    vite: { optimizeDeps: { exclude: ['tabacus'] } }, // Vite 7 leaves wasm behind when it bundles for `nuxt dev`
};
