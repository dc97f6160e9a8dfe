import type { EvaluatorFamily } from "@presage/sdk";
import { humanizeName } from "../../../format/humanize-name.ts";
import { SettingValue } from "../../../ui/config-changes/setting-value.tsx";
import { readConfigFields } from "../profile-form/config-field.ts";

interface ConfigViewProps {
  /** Undefined if this version of Presage no longer has the family. */
  family: EvaluatorFamily | undefined;
  config: Record<string, unknown>;
}

/** All settings of a profile, including defaults. */
export function ConfigView({ family, config }: ConfigViewProps) {
  const fields = family === undefined ? [] : readConfigFields(family.profile_config_schema);
  const fallbacks = new Map(fields.map(({ name, fallback }) => [name, fallback]));
  const names = [...new Set([...fallbacks.keys(), ...Object.keys(config)])];
  if (names.length === 0) return <p className="px-4 py-3 text-sm text-ink-2">This family has no settings.</p>;
  return (
    <dl className="flex flex-col">
      {names.map((name) => {
        const isSet = config[name] !== undefined;
        const isDefault = !isSet && fallbacks.get(name) !== undefined;
        return (
          <div
            key={name}
            className="grid gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0 sm:grid-cols-[11rem_1fr]"
          >
            <dt className="text-sm text-ink-2">{humanizeName(name)}</dt>
            <dd className="flex min-w-0 items-baseline justify-between gap-3">
              <div className="min-w-0">
                <SettingValue value={isSet ? config[name] : fallbacks.get(name)} />
              </div>
              {isDefault && <span className="shrink-0 text-xs text-ink-3">default</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
