import { z } from "zod";
import { environment } from "../environment.ts";

/** The environment variables, what each means and its default: for `--help`. */
export function environmentHelp(): string {
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const meta = z.globalRegistry.get(schema);
    const fallback = defaultOf(schema);
    return `  ${name.padEnd(30)} ${meta?.description}${fallback === undefined ? "" : ` (default: ${fallback})`}`;
  });
  return ["Environment variables:", ...rows, ""].join("\n");
}

function defaultOf(schema: z.ZodType): string | undefined {
  const value = schema.safeParse(undefined);
  return value.success && value.data !== undefined ? String(value.data) : undefined;
}
