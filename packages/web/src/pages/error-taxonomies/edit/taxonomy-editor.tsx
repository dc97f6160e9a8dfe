import { otherFields } from "@presage/contract/read-taxonomy";
import { useState } from "react";
import { Field } from "../../../ui/form/field.tsx";
import { TextArea } from "../../../ui/form/inputs.tsx";
import { parseJson } from "../../../ui/form/parse-json.ts";
import { Segmented } from "../../../ui/form/segmented.tsx";
import { ScrollRegion } from "../../../ui/scroll-region.tsx";
import { TaxonomyTree } from "../tree/taxonomy-tree.tsx";
import { countLeaves } from "../tree/walk-nodes.ts";
import { OutlineInput } from "./outline-input.tsx";
import { readTree, switchSide, type TreeDraft } from "./tree-draft.ts";

interface TaxonomyEditorProps {
  draft: TreeDraft;
  /** The server's error about the tree. */
  issue: string | undefined;
  onChange(part: Partial<TreeDraft>): void;
}

const outlineHint =
  "One category or kind of error per line, as “name: description”. Indent by two spaces for each level.";

/** Edits a tree as an outline or as JSON, with a preview. */
export function TaxonomyEditor({ draft, issue, onChange }: TaxonomyEditorProps) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const { nodes, issues } = readTree(draft);
  const shownIssue = issues.length > 0 ? issues.slice(0, 3).join(" ") : issue;
  const leaves = countLeaves(nodes);
  return (
    <section aria-label="Tree" className="flex min-w-0 flex-col gap-3 rounded-lg border border-line p-4">
      <header className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-semibold">Tree</h3>
        <Segmented
          label="Edit the tree as"
          value={draft.side === "json" ? "json" : "outline"}
          options={[
            { value: "outline", label: "Outline" },
            { value: "json", label: "JSON" },
          ]}
          onChange={(side) => onChange(switchSide(draft, side))}
        />
      </header>
      <div className="grid min-w-0 gap-4 md:grid-cols-2">
        <Field
          label={draft.side === "json" ? "Tree as JSON" : "Outline"}
          hint={draft.side === "json" ? <JsonHint text={draft.json} /> : outlineHint}
          issue={shownIssue}
        >
          {(control) =>
            draft.side === "json" ? (
              <TextArea
                {...control}
                className="max-h-96! min-h-64!"
                value={draft.json}
                onChange={({ target }) => onChange({ json: target.value })}
              />
            ) : (
              <OutlineInput
                control={control}
                value={draft.outline}
                onChange={(outline) => onChange({ outline })}
              />
            )
          }
        </Field>
        <div className="flex min-w-0 flex-col gap-1">
          <h4 className="text-sm font-medium">
            Preview{" "}
            <span className="font-normal text-ink-3">
              {leaves} {leaves === 1 ? "kind" : "kinds"} of error
            </span>
          </h4>
          <ScrollRegion
            label="Preview of the tree"
            className="max-h-96 min-h-64 overflow-y-auto rounded-md border border-line bg-canvas"
          >
            {nodes.length === 0 ? (
              <p className="p-3 text-sm text-ink-3">Nothing yet.</p>
            ) : (
              <TaxonomyTree nodes={nodes} collapsed={collapsed} onCollapse={setCollapsed} />
            )}
          </ScrollRegion>
        </div>
      </div>
    </section>
  );
}

function JsonHint({ text }: { text: string }) {
  const parsed = parseJson(text);
  const others = "value" in parsed ? otherFields(parsed.value) : [];
  if (others.length === 0) return "Nodes have a name, an optional description, and children.";
  return `The outline cannot hold ${others.slice(0, 5).join(", ")}: editing it removes them.`;
}
