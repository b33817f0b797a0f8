package io.softdpu.linux.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Suggestions for a mistyped word: the known words that differ from it by few letters. Any thread.
 */
public final class Suggestions {
    private static final int MAX_SUGGESTIONS = 3;
    private static final int MIN_PREFIX_LENGTH = 3;
    private static final int MIN_MISSPELT_LENGTH = 4;

    private record Scored(String word, int distance) {}

    private Suggestions() {}

    /**
     * The known words that a mistyped one may mean, the nearest first.
     *
     * @return at most three; those that begin with almost the typed letters count as near
     */
    public static List<String> of(String typed, Collection<String> known) {
        int limit = Math.max(1, letters(typed) / 3);
        return known.stream()
                .distinct()
                .map(word -> new Scored(word, distance(typed, word, limit)))
                .filter(scored -> scored.distance <= limit)
                .sorted(Comparator.comparingInt(Scored::distance))
                .map(Scored::word)
                .limit(MAX_SUGGESTIONS)
                .toList();
    }

    /** The end of a message: {@code "; did you mean A or B?"}, or empty without a suggestion. */
    public static String question(List<String> suggestions) {
        return suggestions.isEmpty()
                ? ""
                : "; did you mean " + String.join(" or ", suggestions) + "?";
    }

    /**
     * Whether a word is probably a known one with a mistake, so that it may be refused: one edit
     * for each four letters. Words of less than four letters are too often like another by chance.
     */
    public static boolean isMisspelling(String typed, String known) {
        int shorter = Math.min(typed.length(), known.length());
        return shorter >= MIN_MISSPELT_LENGTH
                && !typed.equals(known)
                && Math.abs(typed.length() - known.length()) <= shorter / MIN_MISSPELT_LENGTH
                && edits(typed, known) <= shorter / MIN_MISSPELT_LENGTH;
    }

    private static int letters(String word) {
        return word.replaceFirst("^-+", "").length();
    }

    /** Edits from one word to the other, or to a beginning of it, which counts as one more. */
    private static int distance(String typed, String word, int limit) {
        if (letters(typed) < 2) { // each word of one letter would be like each other
            return limit + 1;
        }
        int best = edits(typed, word);
        if (letters(typed) >= MIN_PREFIX_LENGTH) {
            for (int end = Math.max(1, typed.length() - limit);
                    end <= Math.min(word.length(), typed.length() + limit);
                    end++) {
                int edits = edits(typed, word.substring(0, end));
                best = Math.min(best, edits == 0 ? 0 : edits + (limit > 1 ? 1 : 0));
            }
        }
        return best;
    }

    /** Insertions, deletions, replacements and exchanges of neighbours, each once per letter. */
    private static int edits(String from, String to) {
        int[][] cost = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                boolean equal = from.charAt(i - 1) == to.charAt(j - 1);
                int least = cost[i - 1][j - 1] + (equal ? 0 : 1);
                least = Math.min(least, cost[i - 1][j] + 1);
                least = Math.min(least, cost[i][j - 1] + 1);
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    least = Math.min(least, cost[i - 2][j - 2] + 1);
                }
                cost[i][j] = least;
            }
        }
        return cost[from.length()][to.length()];
    }
}
