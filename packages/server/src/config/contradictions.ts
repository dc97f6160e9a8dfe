import type { Environment } from "./environment.ts";
import { oidcNames } from "./identity-and-telemetry.ts";
import { anyDomain, type RawEnvironment } from "./values.ts";

/** Contradictions between variables that are each valid alone, one line each. `values` are absent if one is invalid. */
export function contradictionsOf(set: RawEnvironment, values: Environment | undefined): string[] {
  return [
    ...missingForWorkers(values),
    ...contradictionsOfDeployments(set),
    ...contradictionOfRetention(set, values),
    ...missingForSignIn(set),
    ...missingRestriction(set),
  ];
}

/** Several processes share a database only if it is a server, and a port only where the system balances connections. */
function missingForWorkers(values: Environment | undefined): string[] {
  if (values === undefined || values.PRESAGE_WORKERS === 1) return [];
  const needs = `PRESAGE_WORKERS: ${values.PRESAGE_WORKERS} processes need`;
  if (process.platform !== "linux") return [`${needs} Linux; set it to 1`];
  if (values.PRESAGE_DATABASE_URL.startsWith("sqlite:"))
    return [`${needs} PostgreSQL; set PRESAGE_DATABASE_URL to postgres://…, or PRESAGE_WORKERS to 1`];
  return [];
}

/** The file has all of this for each deployment. */
const besideDeployments = [
  "PRESAGE_UPSTREAM_URL",
  "PRESAGE_UPSTREAM_API_KEY",
  "PRESAGE_UPSTREAM_MODEL",
  "PRESAGE_CACHE",
] as const;

function contradictionsOfDeployments(set: RawEnvironment): string[] {
  if (set.PRESAGE_DEPLOYMENTS === undefined) return [];
  const lines = besideDeployments
    .filter((name) => set[name] !== undefined)
    .map((name) => `${name}: set beside PRESAGE_DEPLOYMENTS; unset one of them`);
  if (set.PRESAGE_JUDGE_API_KEY !== undefined && set.PRESAGE_JUDGE_URL === undefined)
    lines.push(
      "PRESAGE_JUDGE_API_KEY: set beside PRESAGE_DEPLOYMENTS, whose default deployment has a key of its own; unset it, or set PRESAGE_JUDGE_URL",
    );
  return lines;
}

function contradictionOfRetention(set: RawEnvironment, values: Environment | undefined): string[] {
  const isTwice =
    values?.PRESAGE_RETENTION?.predictions !== undefined && set.PRESAGE_CAPTURE_MAX_AGE_DAYS !== undefined;
  if (!isTwice) return [];
  return ["PRESAGE_CAPTURE_MAX_AGE_DAYS: set beside predictions in PRESAGE_RETENTION; unset it"];
}

function missingForSignIn(set: RawEnvironment): string[] {
  const missing = oidcNames.filter((name) => set[name] === undefined);
  if (missing.length === oidcNames.length) return [];
  return missing.map((name) => `${name}: not set; set all of ${oidcNames.join(", ")} or none`);
}

/** Without a restriction, everyone with an account at a public provider would join the owner's account. */
function missingRestriction(set: RawEnvironment): string[] {
  const { PRESAGE_OIDC_ISSUER, PRESAGE_OIDC_ALLOWED_DOMAINS, PRESAGE_OIDC_ACCOUNT_CLAIM } = set;
  if (PRESAGE_OIDC_ISSUER === undefined) return [];
  if ((PRESAGE_OIDC_ALLOWED_DOMAINS ?? PRESAGE_OIDC_ACCOUNT_CLAIM) !== undefined) return [];
  return [
    `PRESAGE_OIDC_ALLOWED_DOMAINS: not set; set it to the e-mail domains whose users may sign in, or to ${anyDomain} to allow every user of the provider, or set PRESAGE_OIDC_ACCOUNT_CLAIM to the claim that names a user's account`,
  ];
}
