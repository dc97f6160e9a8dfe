import { applyTheme, prefersDark, readTheme } from "./theme.ts";

// Runs before the first paint, so that a dark page never flashes white.
applyTheme(readTheme());
prefersDark().addEventListener("change", () => applyTheme(readTheme()));
