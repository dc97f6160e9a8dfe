import type {
  EvaluatorProfileCreateRequest,
  EvaluatorProfileRevisionRequest,
  ValidationError,
} from "@presage/contract";
import { ServiceError } from "../../../errors.ts";
import type { Family } from "../../../evaluation/evaluators/family.ts";
import type { Registry } from "../../../evaluation/evaluators/registry.ts";
import { builtInPrefix } from "../../../evaluation/profiles/built-in-profiles.ts";
import { type CheckedConfig, checkConfig } from "../../../evaluation/profiles/check-config.ts";
import type { CallWithCaller } from "../../pipeline/route.ts";
import { askerOf } from "../../request/asker-of.ts";
import { type FamilyFields, readFamily } from "../../request/deprecations.ts";
import { nameNarrowType, toFaults } from "../../request/pydantic-faults.ts";
import { ValidationFailure } from "../../request/validation.ts";
import type { Services } from "../../services.ts";

type ProfileServices = Pick<Services, "registry" | "rules">;

/** What the schema of a new profile cannot say: its family exists and takes its config, and its name may be had. */
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
      ? [wrong(named?.field ?? "evaluator_family", "There is no such family", named?.name ?? "")]
      : []),
    ...(body.name.startsWith(builtInPrefix)
      ? [wrong("name", `Names that begin with ${builtInPrefix} are Presage's own`, body.name)]
      : []),
  ]);
}

/** What the schema of a revision cannot say: the profile's family takes its config, and no other family is named. */
export async function readRevisedConfig(
  services: ProfileServices,
  call: CallWithCaller,
  body: EvaluatorProfileRevisionRequest,
  familyName: string,
): Promise<CheckedConfig> {
  const family = services.registry.find(familyName)?.family;
  if (family === undefined) {
    throw new ServiceError("conflict", `This version of Presage has no family ${familyName} any more.`);
  }
  return accept(
    await readConfig(services, call, family, body),
    faultsOfOtherFamily(services.registry, body, familyName),
  );
}

/** What the schema of a request about a profile cannot say: it names no other family than the profile's. */
export function refuseOtherFamily(registry: Registry, body: FamilyFields, familyName: string): void {
  const faults = faultsOfOtherFamily(registry, body, familyName);
  if (faults.length > 0) throw new ValidationFailure(faults);
}

function faultsOfOtherFamily(registry: Registry, body: FamilyFields, familyName: string): ValidationError[] {
  const named = readFamily(body);
  if (named === undefined || (registry.find(named.name)?.family.name ?? named.name) === familyName) return [];
  return [wrong(named.field, `The profile belongs to the family ${familyName}`, named.name)];
}

function accept(config: CheckedConfig | ValidationError[], faults: ValidationError[]): CheckedConfig {
  if (Array.isArray(config)) throw new ValidationFailure([...faults, ...config]);
  if (faults.length > 0) throw new ValidationFailure(faults);
  return config;
}

async function readConfig(
  { rules }: ProfileServices,
  call: CallWithCaller,
  family: Family,
  body: { config: Record<string, unknown> },
): Promise<CheckedConfig | ValidationError[]> {
  const config = await checkConfig(family, body.config, nameNarrowType, (task) =>
    rules.check(task, askerOf(call)),
  );
  if (!("issues" in config)) return config;
  const issues = config.issues.map((issue) => ({ ...issue, path: ["config", ...issue.path] }));
  return toFaults(issues, body, "body");
}

function wrong(field: string, message: string, input: string): ValidationError {
  return {
    type: "value_error",
    loc: ["body", field],
    msg: `Value error, ${message}`,
    input,
    ctx: { error: message },
  };
}
