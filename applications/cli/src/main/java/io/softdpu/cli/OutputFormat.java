package io.softdpu.cli;

import java.util.Locale;

/** Form of the statistics that a storage program prints. */
enum OutputFormat {
    /** Tables for people. */
    TABLE,
    /** One JSON object, and nothing else on standard output. */
    JSON;

    /** The name on the command line. */
    String optionName() {
        return name().toLowerCase(Locale.ROOT);
    }
}
