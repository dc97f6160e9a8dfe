// Runs before the first paint, so that a dark page never flashes white.
import { applyTheme, prefersDark, readTheme } from "./theme.ts";

applyTheme(readTheme());
prefersDark().addEventListener("change", () => applyTheme(readTheme()));
