import { Monitor, Moon, Sun } from "lucide-react";
import { useSyncExternalStore } from "react";
import { readTheme, storeTheme, watchTheme } from "../theme.ts";
import { Segmented } from "../ui/form/choices.tsx";

const themes = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "System", icon: Monitor },
] as const;

export function ThemeMenu() {
  const theme = useSyncExternalStore(watchTheme, readTheme);
  return <Segmented label="Colour theme" value={theme} options={themes} onChange={storeTheme} />;
}
