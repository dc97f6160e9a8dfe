import type { Share, ShareKind } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { usePresage } from "../data/client.ts";
import { sharesQuery, useCreateShare, useRevokeShare } from "../data/shares.ts";
import { Button, CopyButton } from "../ui/button.tsx";
import { Switch } from "../ui/form/choices.tsx";
import { SelectField } from "../ui/form/fields.tsx";
import { TextInput } from "../ui/form/inputs.tsx";
import { ErrorNotice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { AllowedIconButton } from "./allowed.tsx";

export interface ShareProps {
  kind: ShareKind;
  ids: readonly string[];
}

const ends = [
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];
const dayMs = 86_400_000;

/** Creates a link, and lists the links that work. */
export function ShareLinks({ kind, ids }: ShareProps) {
  const [days, setDays] = useState("30");
  const [withTexts, setWithTexts] = useState(false);
  const choice = `${days} ${withTexts}`;
  const [made, setMade] = useState<{ address: string; choice: string }>();
  const create = useCreateShare((address) => setMade({ address, choice }));
  const { data: shares = [], error } = useQuery(sharesQuery(usePresage(), ids));
  const make = () =>
    create.mutate({
      kind,
      ids: [...ids],
      expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString(),
      with_texts: withTexts,
    });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex items-end justify-between gap-4">
        <SelectField label="Ends" value={days} options={ends} onChange={setDays} />
        <Button variant="primary" isBusy={create.isPending} onClick={make}>
          Make a link
        </Button>
      </div>
      <Switch
        label="With texts of samples and models, params, notes"
        isOn={withTexts}
        onChange={setWithTexts}
      />
      {(create.error ?? error) !== null && <ErrorNotice error={create.error ?? error} />}
      {made?.choice === choice && (
        <div className="flex flex-col gap-1.5" role="status">
          <div className="flex gap-2">
            <TextInput
              aria-label="Link"
              readOnly
              value={made.address}
              onFocus={({ target }) => target.select()}
              className="min-w-0 flex-1"
            />
            <CopyButton text={made.address} label="Copy link">
              Copy link
            </CopyButton>
          </div>
          <p className="text-xs text-ink-3">Copy it now: it is not stored, and will not be shown again.</p>
        </div>
      )}
      {shares.length > 0 && (
        <ul aria-label="Links that work" className="divide-y divide-line border-t border-line text-sm">
          {shares.map((share) => (
            <MadeShare key={share.id} share={share} />
          ))}
        </ul>
      )}
    </div>
  );
}

function MadeShare({ share: { id, created_at, expires_at, with_texts } }: { share: Share }) {
  const revoke = useRevokeShare();
  return (
    <li className="flex flex-wrap items-center gap-2 py-2">
      <span className="min-w-0 flex-1">
        Made <Time at={created_at} />, ends <Time at={expires_at} />, {with_texts ? "with" : "without"} texts
      </span>
      <AllowedIconButton
        needs="evaluate"
        label="Revoke the link"
        icon={<Trash2 aria-hidden />}
        aria-disabled={revoke.isPending}
        onClick={() => revoke.mutate(id)}
      />
      {revoke.error !== null && <ErrorNotice error={revoke.error} />}
    </li>
  );
}
