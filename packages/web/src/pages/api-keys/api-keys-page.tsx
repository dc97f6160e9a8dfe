import { useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { KeyRound, Plus } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { membersQuery, nameOfMember, useRole } from "../../data/accounts.ts";
import { apiKeysQuery, type NewKey } from "../../data/api-keys.ts";
import { findQueryError, usePresage } from "../../data/client.ts";
import { budgetsQuery, monthSpendingQuery } from "../../data/spending.ts";
import { BudgetDialog, type BudgetHolder } from "../../parts/budget.tsx";
import { Button } from "../../ui/button.tsx";
import { Switch } from "../../ui/form/choices.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { NewKeyDialog } from "./key-dialogs.tsx";
import { CreateKeyDialog } from "./key-form.tsx";
import { KeyTable } from "./key-table.tsx";

export const apiKeysRoute = createLazyRoute("/api-keys")({ component: ApiKeysPage });

function ApiKeysPage() {
  const presage = usePresage();
  const keysQuery = useQuery(apiKeysQuery(presage));
  const { data: keys } = keysQuery;
  const isOwner = useRole() === "owner";
  const membersOf = useQuery({ ...membersQuery(presage), enabled: isOwner });
  const { data: members } = membersOf;
  const userNames = useMemo(
    () =>
      members && members.length > 1 ? new Map(members.map((one) => [one.id, nameOfMember(one)])) : undefined,
    [members],
  );
  const budgetsOf = useQuery(budgetsQuery(presage));
  const month = useQuery(monthSpendingQuery(presage));
  const { data: budgets } = budgetsOf;
  const failure = findQueryError([keysQuery, membersOf, budgetsOf, month]);
  const [budgetOf, setBudgetOf] = useState<BudgetHolder>();
  const [isCreating, setCreating] = useState(false);
  // The only place that has the secret, until the user has stored it.
  const [newKey, setNewKey] = useState<NewKey>();
  const [showsRevoked, setShowsRevoked] = useState(false);
  const createButton = useRef<HTMLButtonElement>(null);

  const revokedCount = keys?.filter(({ revoked_at }) => revoked_at).length ?? 0;
  const shown = useMemo(
    () => keys?.filter(({ revoked_at }) => showsRevoked || !revoked_at),
    [keys, showsRevoked],
  );
  const create = () => setCreating(true);

  return (
    <Page
      title="API keys"
      hint={`Programs send a key with every request. A key can do what its user can do, or less.${isOwner ? " Owners see the keys of all users of the account." : ""}`}
      actions={
        <>
          {revokedCount > 0 && (
            <Switch label={`Show revoked (${revokedCount})`} isOn={showsRevoked} onChange={setShowsRevoked} />
          )}
          <Button ref={createButton} variant="primary" icon={<Plus aria-hidden />} onClick={create}>
            Create key
          </Button>
        </>
      }
    >
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {(keys !== undefined || keysQuery.error === null) && (
        <KeyTable
          keys={shown}
          userNames={userNames}
          budgets={budgets}
          month={month.data}
          onBudget={isOwner ? setBudgetOf : undefined}
          empty={
            <EmptyState
              icon={KeyRound}
              title={revokedCount === 0 ? "No keys yet" : "No active keys"}
              actions={<Button onClick={create}>Create a key</Button>}
            >
              Every program that calls Presage needs a key: an agent, a training run, a script. Give each its
              own, so that you can see which is in use and revoke one without stopping the others.
            </EmptyState>
          }
        />
      )}
      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} onCreated={setNewKey} />
      {budgets !== undefined && (
        <BudgetDialog holder={budgetOf} budgets={budgets} onClose={() => setBudgetOf(undefined)} />
      )}
      <NewKeyDialog
        newKey={newKey}
        onStored={() => setNewKey(undefined)}
        focusAfterwards={() => createButton.current?.focus()}
      />
    </Page>
  );
}
