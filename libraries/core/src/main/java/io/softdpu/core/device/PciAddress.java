package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Address of a PCIe function: domain, bus, device and function.
 *
 * @param domain 0 to 0xffff; 0 on most machines
 * @param bus 0 to 0xff
 * @param device 0 to 0x1f
 * @param function 0 to 7
 */
public record PciAddress(int domain, int bus, int device, int function)
        implements Comparable<PciAddress> {

    private static final Pattern FORM =
            Pattern.compile("(?:([0-9a-fA-F]{4}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\\.([0-7])");

    /**
     * Checks the ranges.
     *
     * @throws DpuException INVALID_VALUE if a part is out of its range
     */
    public PciAddress {
        if (domain >>> 16 != 0 || bus >>> 8 != 0 || device >>> 5 != 0 || function >>> 3 != 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "PCI address out of range: domain=%#x, bus=%#x, device=%#x,"
                                    + " function=%#x",
                            domain, bus, device, function));
        }
    }

    /**
     * Reads the short form {@code 0b:00.0} (domain 0) or the long form {@code 0000:0b:00.0}.
     *
     * @throws DpuException INVALID_VALUE if the text has neither form
     */
    public static PciAddress of(String text) {
        Arguments.notNull(text, "text");
        @Nullable PciAddress address = parse(text);
        if (address == null) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a PCI address: text=" + text + ", forms=[0b:00.0, 0000:0b:00.0]");
        }
        return address;
    }

    /** The same as {@link #of}, but null for a text that is not a PCI address, such as a name. */
    static @Nullable PciAddress parse(String text) {
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            return null;
        }
        @Nullable String domain = m.group(1);
        int device = hex(m.group(3));
        if (device > 0x1f) {
            return null;
        }
        return new PciAddress(
                domain == null ? 0 : hex(domain), hex(m.group(2)), device, hex(m.group(4)));
    }

    /** The form without the domain, {@code 0b:00.0}; with it if the domain is not 0. */
    public String shortForm() {
        return domain == 0 ? Text.format("%02x:%02x.%x", bus, device, function) : longForm();
    }

    /** The form with the domain, {@code 0000:0b:00.0}. */
    public String longForm() {
        return Text.format("%04x:%02x:%02x.%x", domain, bus, device, function);
    }

    /**
     * Compares by domain, bus, device and function.
     *
     * @throws DpuException INVALID_VALUE if the other is null
     */
    @Override
    public int compareTo(PciAddress other) {
        Arguments.notNull(other, "other");
        return Integer.compareUnsigned(packed(), other.packed());
    }

    /** The {@linkplain #shortForm() short form}. */
    @Override
    public String toString() {
        return shortForm();
    }

    /** Domain, bus, device and function in 16, 8, 5 and 3 bits, as configuration space has them. */
    private int packed() {
        return domain << 16 | bus << 8 | device << 3 | function;
    }

    private static int hex(String digits) {
        return Integer.parseInt(digits, 16);
    }
}
