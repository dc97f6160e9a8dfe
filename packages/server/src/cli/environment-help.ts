import { Help } from "commander";
import { z } from "zod";
import { environment } from "../config/environment.ts";

/** The environment variables with descriptions and defaults, for `--help`. */
export function environmentHelp(width: number): string {
  const help = new Help();
  help.helpWidth = width;
  const names = Object.keys(environment.shape);
  const nameWidth = Math.max(...names.map((name) => name.length));
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const description = z.globalRegistry.get(schema)?.description;
    const fallback = defaultOf(schema);
    const text = fallback === undefined ? `${description}` : `${description} (default: ${fallback})`;
    return help.formatItem(name, nameWidth, text, help);
  });
  return ["Environment variables:", ...rows, ""].join("\n");
}

function defaultOf(schema: z.ZodType): string | undefined {
  const value = schema.safeParse(undefined);
  return value.success && value.data !== undefined ? String(value.data) : undefined;
}
