package io.softdpu.cli.doctor;

import org.jspecify.annotations.Nullable;

/**
 * Result of one check.
 *
 * @param check its name, in words
 * @param grade whether softdpu can run
 * @param detail the values that were found, {@code key=value, key=value}
 * @param remedy the remedy; null if the grade is OK
 */
public record Finding(String check, Grade grade, String detail, @Nullable String remedy) {
    /** Grades of a finding. */
    public enum Grade {
        /** Nothing to do. */
        OK("ok"),
        /** softdpu runs, with a disadvantage. */
        WARNING("warning"),
        /** softdpu cannot run. */
        ERROR("error");

        private final String word;

        Grade(String word) {
            this.word = word;
        }

        /** The word in the output. */
        public String word() {
            return word;
        }
    }

    static Finding ok(String check, String detail) {
        return new Finding(check, Grade.OK, detail, null);
    }

    static Finding warning(String check, String detail, String remedy) {
        return new Finding(check, Grade.WARNING, detail, remedy);
    }

    static Finding error(String check, String detail, String remedy) {
        return new Finding(check, Grade.ERROR, detail, remedy);
    }
}
