package io.softdpu.perf.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/**
 * Measured values as text with their units, of four digits at most: more than any of them is worth.
 */
public final class Figures {
    private static final int DIGITS = 4;
    private static final MathContext ROUNDING = new MathContext(DIGITS, RoundingMode.HALF_EVEN);
    private static final String[] THOUSANDS = {"", " k", " M", " G", " T"};
    private static final String[] TIMES = {" ns", " us", " ms", " s"};

    private Figures() {}

    /** The value rounded to four digits, for JSON. */
    public static double rounded(double value) {
        return Double.isFinite(value) ? new BigDecimal(value, ROUNDING).doubleValue() : value;
    }

    /** A number without unit: {@code 1.969}, {@code 30.02}, {@code 0}. */
    public static String number(double value) {
        if (value == 0 || !Double.isFinite(value)) {
            return value == 0 ? "0" : Double.toString(value);
        }
        BigDecimal rounded = new BigDecimal(value, ROUNDING);
        int integerDigits = rounded.precision() - rounded.scale();
        // Zeros at the end stay, so that numbers of one size are aligned; those of 0.05 do not.
        return integerDigits >= 0
                ? rounded.setScale(Math.max(0, DIGITS - integerDigits)).toPlainString()
                : rounded.stripTrailingZeros().toPlainString();
    }

    /** A count: {@code 64}, {@code 3.670 M}. */
    public static String count(double value) {
        return scaled(value, THOUSANDS);
    }

    /** As {@link #count(double)}. */
    public static String count(long value) {
        return count((double) value);
    }

    /** A rate: {@code 1.223 M/s}. */
    public static String perSecond(double value) {
        return count(value) + "/s";
    }

    /** Bytes per second in 10^9: {@code 5.011 GB/s}. */
    public static String gigabytesPerSecond(double value) {
        return number(value) + " GB/s";
    }

    /** A time: {@code 950 ns}, {@code 12.88 ms}. */
    public static String time(double nanos) {
        return scaled(nanos, TIMES);
    }

    /** As {@link #time(double)}. */
    public static String time(long nanos) {
        return time((double) nanos);
    }

    /** Percentage of a part beside the rest; 0 if both are 0. */
    public static double sharePercent(long part, long rest) {
        return part + rest == 0 ? 0 : 100.0 * part / (part + rest);
    }

    /** A share: {@code 30.02 %}. */
    public static String percent(double value) {
        return number(value) + " %";
    }

    /**
     * A duration to the second, or to the tenth where it is short, or in minutes or hours where it
     * is long: {@code 0.3 s}, {@code 95 s}, {@code 10 min}.
     */
    public static String seconds(long nanos) {
        double seconds = nanos / 1e9;
        if (seconds >= 600) {
            return seconds >= 36_000
                    ? Math.round(seconds / 3600) + " h"
                    : Math.round(seconds / 60) + " min";
        }
        return String.format(Locale.ROOT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
    }

    private static String scaled(double value, String[] units) {
        int unit = 0;
        double number = rounded(value);
        while (Math.abs(number) >= 1000 && unit < units.length - 1) {
            number /= 1000;
            unit++;
        }
        // Whole numbers that are not divided have no decimals.
        String text =
                unit == 0 && number == Math.rint(number)
                        ? Long.toString((long) number)
                        : number(number);
        return text + units[unit];
    }
}
