package io.softdpu.perf.text;

import java.util.Locale;

/** Constant of an enumeration that command lines and results name by a word in lower case. */
public interface Word {
    /** The name of the constant. */
    String name();

    /** The name on command lines and in results. */
    default String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
