package io.softdpu.cli.options;

import io.softdpu.core.DpuException;
import io.softdpu.core.device.PciFunction;
import java.net.InetAddress;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a numeric IPv4 or IPv6 address; never resolves names. */
public final class AddressConverter implements ITypeConverter<InetAddress> {
    /** For picocli. */
    public AddressConverter() {}

    @Override
    public InetAddress convert(String text) {
        try {
            return text.indexOf(':') < 0 ? PciFunction.ipv4Of(text) : PciFunction.ipv6Of(text);
        } catch (DpuException e) {
            throw refused(text);
        }
    }

    private static TypeConversionException refused(String text) {
        return new TypeConversionException(
                "not an IP address: address="
                        + text
                        + ", expected=a numeric one such as 127.0.0.1, 0.0.0.0 or ::1");
    }
}
