import {generateKeyPairSync, sign} from 'node:crypto';

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
	const body = Buffer.concat(parts);
	const {length} = body;
	const head =
		length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
	return Buffer.concat([Buffer.from([tag, ...head]), body]);
};

const SEQUENCE = 0x30;
const SET = 0x31;
const algorithm = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));
const commonName = Buffer.from('0603550403', 'hex');
const subjectAltName = Buffer.from('0603551d11', 'hex');

const time = (at: number): Buffer =>
	der(
		0x17,
		Buffer.from(
			`${new Date(at)
				.toISOString()
				.replace(/[-T:]|\.\d+/g, '')
				.slice(2)}`,
		),
	);

/** Creates a self-signed certificate for localhost and its key, both as PEM. It is valid for one hour. */
export function selfSigned(): {readonly cert: string; readonly key: string} {
	const {publicKey, privateKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
	const name = der(SEQUENCE, der(SET, der(SEQUENCE, commonName, der(0x0c, Buffer.from('localhost')))));
	const names = der(SEQUENCE, der(0x82, Buffer.from('localhost')));
	const now = Date.now();
	const certificate = der(
		SEQUENCE,
		der(0xa0, der(0x02, Buffer.from([2]))),
		der(0x02, Buffer.from([1])),
		algorithm,
		name,
		der(SEQUENCE, time(now - 3_600_000), time(now + 3_600_000)),
		name,
		publicKey.export({type: 'spki', format: 'der'}),
		der(0xa3, der(SEQUENCE, der(SEQUENCE, subjectAltName, der(0x04, names)))),
	);
	const signature = der(0x03, Buffer.from([0]), sign('sha256', certificate, privateKey));
	const certificateText = der(SEQUENCE, certificate, algorithm, signature).toString('base64');
	return {
		cert: `-----BEGIN CERTIFICATE-----\n${certificateText.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
		key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
	};
}
