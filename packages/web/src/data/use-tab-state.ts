import { skipToken, useQuery, useQueryClient } from "@tanstack/react-query";

/** State that outlives its page, until the tab is reloaded. */
export function useTabState<State>(
  name: string,
  initial: State,
): [State, (change: (state: State) => State) => void] {
  const queryClient = useQueryClient();
  const queryKey = ["kept state", name];
  const { data = initial } = useQuery({
    queryKey,
    queryFn: skipToken,
    initialData: initial,
    gcTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  return [data, (change) => queryClient.setQueryData<State>(queryKey, (state = initial) => change(state))];
}
