import { wordsOfName } from "../../text/words-of-name.ts";
import { ChangedWords } from "../../ui/changed-words.tsx";
import type { ConfigChange } from "./config-changes.ts";
import { SettingValue } from "./setting-value.tsx";

/** What two revisions have differently, setting by setting. */
export function ConfigChangesView({ changes }: { changes: readonly ConfigChange[] }) {
  return (
    <dl className="flex flex-col">
      {changes.map(({ name, before, after, words }) => (
        <div key={name} className="flex flex-col gap-1.5 border-b border-line px-4 py-3 last:border-b-0">
          <dt className="text-xs font-medium text-ink-2">{wordsOfName(name)}</dt>
          <dd className="min-w-0">
            {words === undefined ? (
              <BeforeAndAfter before={before} after={after} />
            ) : (
              <ChangedWords stretches={words} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function BeforeAndAfter({ before, after }: { before: unknown; after: unknown }) {
  return (
    <div className="grid min-w-0 gap-2 sm:grid-cols-2">
      <del className="min-w-0 rounded-md bg-fail-soft px-2 py-1 no-underline">
        <span className="sr-only">Before: </span>
        <SettingValue value={before} />
      </del>
      <ins className="min-w-0 rounded-md bg-pass-soft px-2 py-1 no-underline">
        <span className="sr-only">After: </span>
        <SettingValue value={after} />
      </ins>
    </div>
  );
}
