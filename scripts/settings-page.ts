// `npm run docs:settings`: writes docs/operate/settings.md from the table that checks the settings.
import { join } from "node:path";
import { environment } from "../packages/server/src/config/environment.ts";
import { expectedOf } from "../packages/server/src/config/values.ts";

const head = `# Settings

<!-- Written by \`npm run docs:settings\` from packages/server/src/config/environment.ts, as \`presage help environment\` is. -->

Presage is configured with environment variables. All are checked at start: for each invalid one the server prints a line, and it does not start.
An empty variable counts as not set. \`presage config\` shows the effective values, where they come from, and misspelt names.

More about: [workers, replicas, deployments, the cache and Redis](scaling.md); [limits](limits.md); [keys, roles and sign-in](access.md); [stored predictions and retention](privacy.md);
[prices](usage.md#costs) and [OpenTelemetry](opentelemetry.md).

| variable | default | meaning | value |
|---|---|---|---|
`;

/** The page's Markdown. */
export function settingsPage(): string {
  const rows = Object.entries(environment.shape).map(([name, schema]) => {
    const { success, data } = schema.safeParse(undefined);
    const fallback = success && data !== undefined ? `\`${data}\`` : "";
    return `| \`${name}\` | ${fallback} | ${schema.description} | ${expectedOf(schema) ?? "text"} |\n`;
  });
  return head + rows.join("");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "../docs/operate/settings.md"), settingsPage());
