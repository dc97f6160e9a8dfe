import { scopesOfRole } from "@presage/contract/permissions";
import type { KeyScope } from "@presage/sdk";
import { useRole } from "../../data/use-role.ts";
import { FieldGroup } from "../../ui/form/field.tsx";
import { Checkbox } from "../../ui/form/inputs.tsx";

const scopeWords: Record<KeyScope, string> = {
  predict: "Predict, play episodes",
  evaluate: "Evaluate, change datasets and runs",
  read: "Read",
  manage: "Manage keys and the account",
};

interface ScopesFieldProps {
  /** Empty: all that the user may. */
  value: readonly KeyScope[];
  onChange(value: KeyScope[]): void;
}

/** What a key may do, of what its user may. */
export function ScopesField({ value, onChange }: ScopesFieldProps) {
  const role = useRole();
  const offered = role === undefined ? [] : scopesOfRole(role);
  const hint =
    value.length === 0
      ? "Without a choice, the key may do everything that your role allows."
      : "The key may do nothing else, and never more than your role allows. This cannot be changed later.";
  return (
    <FieldGroup label="Scopes" hint={hint}>
      <div className="grid grid-cols-1 gap-1.5 sm:grid-cols-2">
        {offered.map((scope) => (
          <Checkbox
            key={scope}
            label={scopeWords[scope]}
            checked={value.includes(scope)}
            onChange={({ target }) =>
              onChange(target.checked ? [...value, scope] : value.filter((other) => other !== scope))
            }
          />
        ))}
      </div>
    </FieldGroup>
  );
}
