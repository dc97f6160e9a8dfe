import { readDeploymentSettings } from "../app/compose-deployments.ts";
import { upstreamOfJudges } from "../app/compose-evaluation.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { UpstreamError } from "../platform/errors.ts";
import { defined } from "../platform/words.ts";
import type { UpstreamOptions } from "../upstream/create-upstream.ts";
import { createUpstream } from "../upstream/create-upstream.ts";
import { replicaAddress } from "../upstream/replicas.ts";
import type { Finding } from "./finding.ts";

const timeoutMs = 5_000;

/** Asks every replica of every deployment for its models. */
export async function checkUpstreams(config: Config): Promise<Finding[]> {
  if (config.deployments === undefined && config.upstream.urls === undefined) {
    const text = "PRESAGE_UPSTREAM_URL is not set: the built-in sandbox predicts";
    return [{ check: "upstream", state: "off", text }];
  }
  try {
    const { deployments } = await readDeploymentSettings(config);
    const found = await Promise.all(
      deployments.map(({ name, urls, apiKey, model }) =>
        askEach("upstream", { ...common, name, urls, apiKey, model }),
      ),
    );
    return found.flat();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split("\n").map((text) => ({ check: "upstream", state: "bad", text }));
  }
}

/** The model behind judges, if it is not the upstream. */
export async function checkJudge(config: Config): Promise<Finding[]> {
  const own = upstreamOfJudges(config);
  if (own !== undefined) return await askEach("judge", { ...own, ...common });
  const isNone = config.deployments === undefined && config.upstream.urls === undefined;
  const text = isNone
    ? "no model: judges cannot be used. Set PRESAGE_UPSTREAM_URL or PRESAGE_JUDGE_URL for them"
    : "judges ask the upstream";
  return [{ check: "judge", state: "off", text }];
}

const common = { timeoutMs, retries: 0, keepAlive: false };

async function askEach(check: Finding["check"], options: UpstreamOptions): Promise<Finding[]> {
  return await Promise.all(
    options.urls.map(async (url) => await ask(check, { ...options, ...defined({ urls: [url] }) })),
  );
}

async function ask(check: Finding["check"], options: UpstreamOptions): Promise<Finding> {
  const [url = ""] = options.urls;
  const place = `${options.name} at ${replicaAddress(url)}`;
  try {
    const { models } = await createUpstream(options).listModels(new AbortController().signal);
    const ids = models.map(({ id }) => id);
    const { model = ids[0] } = options;
    if (model === undefined) return { check, state: "bad", text: `${place} lists no model. Load one there` };
    if (ids.includes(model)) return { check, state: "good", text: `${place} serves ${model}` };
    const text = `${place} does not list ${model}. Its models are ${ids.slice(0, 5).join(", ")}`;
    return { check, state: "bad", text };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    // What it sent may repeat the key.
    const status = error.status === undefined ? "" : ` (status ${error.status})`;
    return { check, state: "bad", text: `${place}: ${adviceFor(error)}${status}` };
  }
}

function adviceFor({ category, status }: UpstreamError): string {
  if (status === 401 || status === 403) return "it refuses the API key. Correct it";
  if (status === 404)
    return "it has no list of models at this address, which usually ends in /v1. Correct it";
  if (category === "timeout") return `no answer within ${timeoutMs / 1000} s. Is it still loading its model?`;
  if (category === "unavailable" && status === undefined)
    return "it cannot be reached. Start it, or correct the address";
  return "it does not answer as a chat-completions server. Look at its log";
}
