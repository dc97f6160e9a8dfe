import type { Evaluator, EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { useNavigate } from "@tanstack/react-router";
import { Plus, Sparkles } from "lucide-react";
import { useState } from "react";
import { humanizeName } from "../../format/humanize-name.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Fact } from "../../ui/fact.tsx";
import { ProfileDialog } from "./profile-form/profile-dialog.tsx";
import { ProfileTable } from "./profile-table.tsx";
import type { FiguresOfRevision } from "./revision-figures.ts";

interface FamilyCardProps {
  family: EvaluatorFamily;
  /** The family's versions. */
  evaluators: readonly Evaluator[];
  profiles: readonly EvaluatorProfile[];
  /** Undefined while loading. */
  figuresOf: FiguresOfRevision | undefined;
}

export function FamilyCard({ family, evaluators, profiles, figuresOf }: FamilyCardProps) {
  const { family_name, description, required_input_fields, optional_input_fields, uses_model } = family;
  const [isNewOpen, setNewOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <section aria-label={family_name} className="min-w-0 rounded-lg border border-line bg-surface">
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
        <div className="flex min-w-0 flex-1 basis-72 flex-col gap-1">
          <div className="flex flex-wrap items-center gap-2">
            <h2 className="text-sm font-semibold">{family_name}</h2>
            {uses_model && (
              <Badge tone="accent" icon={<Sparkles aria-hidden />}>
                Uses a model
              </Badge>
            )}
            {evaluators.some(({ profile_required }) => profile_required) && <Badge>Profile required</Badge>}
          </div>
          <p className="text-sm text-ink-2">{description}</p>
          <dl className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-3">
            <Fact look="inline" name="Required">
              {listOf(required_input_fields)}
            </Fact>
            {optional_input_fields.length > 0 && (
              <Fact look="inline" name="Optional">
                {listOf(optional_input_fields)}
              </Fact>
            )}
            {evaluators.map(({ id, aliases }) => (
              <Fact key={id} look="inline" name="ID">
                <code className="font-mono">{id}</code>
                {aliases.length > 0 && (
                  <>
                    {" or "}
                    <code className="font-mono">{aliases.join(", ")}</code>
                  </>
                )}
              </Fact>
            ))}
          </dl>
        </div>
        <Button
          size="small"
          icon={<Plus aria-hidden />}
          aria-label={`New profile of ${family_name}`}
          onClick={() => setNewOpen(true)}
        >
          New profile
        </Button>
      </header>
      {profiles.length > 0 && (
        <ProfileTable familyName={family_name} profiles={profiles} figuresOf={figuresOf} />
      )}
      <ProfileDialog
        isOpen={isNewOpen}
        onClose={() => setNewOpen(false)}
        family={family}
        onSaved={({ public_id }) =>
          navigate({ to: "/evaluators/profiles/$publicId", params: { publicId: public_id } })
        }
      />
    </section>
  );
}

function listOf(fields: readonly string[]): string {
  return fields.map((field) => humanizeName(field).toLowerCase()).join(", ");
}
