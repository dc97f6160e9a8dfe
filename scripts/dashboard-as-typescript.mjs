// A dashboard as a TypeScript file, whose values have the types of Grafana's SDK.

/** Fields of the SDK's types are enums, or required although Grafana has defaults for them. */
const header = `import type { Dashboard, Panel, RowPanel } from "@grafana/grafana-foundation-sdk/dashboard";
import type { Dataquery } from "@grafana/grafana-foundation-sdk/prometheus";
import type { Options as stat } from "@grafana/grafana-foundation-sdk/stat";
import type { FieldConfig, Options as timeseries } from "@grafana/grafana-foundation-sdk/timeseries";
type Plain<T> = T extends string ? \`\${T}\` : T extends readonly (infer Item)[] ? Plain<Item>[]
  : T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T;
type Written<T> = { [Key in keyof T]?: Plain<T[Key]> };
`;

export function dashboardAsTypeScript({ panels, ...dashboard }) {
  const values = [['Omit<Dashboard, "panels">', dashboard], ...panels.flatMap(valuesOfPanel)];
  const constants = values.map(
    ([type, value], place) => `export const value${place}: Written<${type}> = ${JSON.stringify(value)};\n`,
  );
  return header + constants.join("");
}

/** The fields that a kind of panel adds to those of all panels have their own types. */
function valuesOfPanel({ options, targets, fieldConfig, ...panel }) {
  if (panel.type === "row") return [["RowPanel", panel]];
  const { custom = {}, ...defaults } = fieldConfig.defaults;
  return [
    ["Panel", { ...panel, fieldConfig: { ...fieldConfig, defaults } }],
    [panel.type, options],
    ["FieldConfig", custom],
    ...targets.map((target) => ["Dataquery", target]),
  ];
}
