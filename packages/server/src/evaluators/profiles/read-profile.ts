import type {
  EvaluatorProfileCreateRequest,
  EvaluatorProfileRevisionRequest,
  ValidationError,
} from "@presage/contract";
import { nameNarrowType, toIssues, valueError } from "../../http/pydantic-issues.ts";
import { requesterOf } from "../../http/requester-of.ts";
import type { CallWithCaller } from "../../http/route.ts";
import { InvalidRequestError } from "../../http/validate.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import type { Family } from "../family.ts";
import { type FamilyFields, readFamily } from "../old-names.ts";
import type { Registry } from "../registry.ts";
import { builtInPrefix } from "./built-in-profiles.ts";
import { type CheckedConfig, checkConfig } from "./check-config.ts";

type ProfileServices = Pick<EvaluationServices, "registry" | "rules">;

/** Checks what the schema of a new profile cannot: that its family exists and accepts the config, and that the name is allowed. */
export async function readNewConfig(
  services: ProfileServices,
  call: CallWithCaller,
  body: EvaluatorProfileCreateRequest,
): Promise<CheckedConfig> {
  const named = readFamily(body);
  const family = named && services.registry.find(named.name)?.family;
  const config = family === undefined ? [] : await readConfig(services, call, family, body);
  return accept(config, [
    ...(family === undefined
      ? [
          valueError(
            ["body", named?.field ?? "evaluator_family"],
            "There is no such family",
            named?.name ?? "",
          ),
        ]
      : []),
    ...(body.name.startsWith(builtInPrefix)
      ? [valueError(["body", "name"], `Names that start with ${builtInPrefix} are reserved`, body.name)]
      : []),
  ]);
}

/** Checks what the schema of a revision cannot: that the profile's family accepts the config, and that no other family is named. */
export async function readRevisedConfig(
  services: ProfileServices,
  call: CallWithCaller,
  body: EvaluatorProfileRevisionRequest,
  familyName: string,
): Promise<CheckedConfig> {
  const family = services.registry.find(familyName)?.family;
  if (family === undefined) {
    throw new ServiceError("conflict", `This version of Presage no longer has the family ${familyName}.`);
  }
  return accept(
    await readConfig(services, call, family, body),
    issuesOfOtherFamily(services.registry, body, familyName),
  );
}

/** Checks what the schema of a request about a profile cannot: that it names no family but the profile's. */
export function refuseOtherFamily(registry: Registry, body: FamilyFields, familyName: string): void {
  const issues = issuesOfOtherFamily(registry, body, familyName);
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

function issuesOfOtherFamily(registry: Registry, body: FamilyFields, familyName: string): ValidationError[] {
  const named = readFamily(body);
  if (named === undefined || (registry.find(named.name)?.family.name ?? named.name) === familyName) return [];
  return [valueError(["body", named.field], `The profile belongs to the family ${familyName}`, named.name)];
}

function accept(config: CheckedConfig | ValidationError[], issues: ValidationError[]): CheckedConfig {
  if (Array.isArray(config)) throw new InvalidRequestError([...issues, ...config]);
  if (issues.length > 0) throw new InvalidRequestError(issues);
  return config;
}

async function readConfig(
  { rules }: ProfileServices,
  call: CallWithCaller,
  family: Family,
  body: { config: Record<string, unknown> },
): Promise<CheckedConfig | ValidationError[]> {
  const config = await checkConfig(family, body.config, nameNarrowType, (task) =>
    rules.check(task, requesterOf(call)),
  );
  if (!("issues" in config)) return config;
  const issues = config.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  return toIssues(issues, body, "body");
}
