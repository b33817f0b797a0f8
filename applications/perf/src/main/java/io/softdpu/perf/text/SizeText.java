package io.softdpu.perf.text;

/** Sizes in bytes in readable form. */
public final class SizeText {
    private SizeText() {}

    /** The shortest exact text for a size: {@code 64MiB}, {@code 4KiB}, {@code 1000}. */
    public static String format(long bytes) {
        String[] units = {"", "KiB", "MiB", "GiB"};
        int unit = 0;
        long number = bytes;
        while (unit < 3 && number != 0 && number % 1024 == 0) {
            number >>= 10;
            unit++;
        }
        return number + units[unit];
    }
}
