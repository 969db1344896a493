/**
 * Keys of one project as `zuul-admin export-keys` writes them, made with Python's cryptography, and texts that other programs encrypted
 * for it. 2048 bits, so that tests are quick; nothing else uses these keys.
 */
import { Secret } from '../../src/lib/secret.ts';

/** With which the private keys are locked. */
export const KEYSTORE_PASSWORD = new Secret('correct horse battery staple');

/** The project that the keys are of: `local/org/project`. */
export const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0qRkjfCFsBj8xJoWmE3n
8Po2AJc78uyf3iA1ix4SqD6m5Ur6bmNcCrnKdg/0H9fg9HpHFd6/SldSXOiCiuj0
uK4DJz6Ba6dAV9QeT2+PK2GZLg+C9TUMdfUVAC+S8Lqc00K7ge1sd5wbfuw78jCM
79wCWFw6AoLheF+JmuYpwhluE61agUU6LPQf0UH8RRzOhITjg98vh1Ux08pKmih/
KLsKc5cXI4pqmN8eHQ7yC8izgcz/3ypZ1rP9bxod1naYkhVp8XHyCXsxkHc4h7vP
lY2tJ3UPgacvk5utZFViodhhXJw9kRrl9jMh2JTB7PNgRK0q8ukxUNM5N1ToxjRn
LQIDAQAB
-----END PUBLIC KEY-----
`;
export const SSH_PUBLIC_KEY =
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC4RU5h3mcpu34MNoNxUh2BHNgFTrFdoxLBLNbSCWBh26dpp7km7QCJhxZND/2tZXi1O4c/OTDRgZpMJJh3RuQFjU7qabEPIliLNbbhxiqOEPOtEHt9SdIzZBhS1yPcd+vPwydRUXBBMhtQ3tIIhrW1PMRsFMSQCGqSm8wbAn0i/JyIZsdTLJXAoTIrQX4jT+uQBLHijswTWTgL1t6tIrAtL6i1n6RAgnOVJH+bWGIwNU2yGgtWEwKiJeyaLEhJAYChsEvR+QSCBmQ1WrLynXE5/YtRDlNU7ORvh8ds+ZskqqTzF6tbaf6JWLx3J1I4CwZohrDg0hkCoSOQwOz3PP+3';

const SECRETS_PEM = `-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,33EF4D9542AA15ACD2A1C157C76B9DA9

OIrixhaGPoteaU5Ll8QW+3SU538Ia+FHGx0ot2cO2y1Es1PXSbiaUYuxwA29VOqw
1KBx2Yk4Iyn31cZ2+rXNyK0Gr8nd9yWjLbiluibyn0HMQksZKBJN4tirNNReiHhN
a3a9Mk1DWVM9nKJaBargbAqFO8x/AroGjExDZT5UpobVijTxZDOq/o00Du9tg4au
m8u70fTiZQr2cKeJ/yr5EWMIhBSnNo1eAhi6BXBiAXB9u2a/W3NOWHHclkmthBju
wu8B+pNr8O0ze4HrHwMKQQopseg/+LHeupHeBNpOmcUroOdUEvva6l49KXyAFaQc
NxTe11/himNpxKaw2hDnZS5tSvY2jvLm5UtQMlq9XRcg0m3VXbqDTTn3ZLd5V0lK
dOA12Z/MBLSdc60acOpu5wLbPCFQIla7l+e6F5YBoF+NqkJRVYlZ3pqbm6Ikpetv
cbTDPC8aFu9yj+IJWUUaZ4S+zE7ody5UY3FpyEelyenOxi7r6B64EbDN/SpQp1BN
2BbmFXAHJfgpSpwTQhavAUSn819KWIdC6ZUrygWtrSaGZZkhOYKvlMHobT17KB7q
T7qERB7urcb3PUvkd1eg3QXKEf+3dzZNcC8RXAwduJq5YTBJrQhicyDib1S8fAFQ
5wqNPlGpXdB16KNA1S5GlztY+G8dTUszSKI0aC9s1xmML3jRXA/kZ/M5W7IK5Xwx
MwY2ssh40HYqF6AWMfR9EvHlaTl2LXZRIPegqoO++m/wPC8VL70OOfBx6xc5gzT6
wePPMrhLRDyhw85l1AICAuRCYhD4DvFz2e62EJdt3X6kqBZyFsu9P9bRqDUYFhrj
BRg4xOwITyEXlm/0cj4h3epOULYEzkf75JRnY8nHt7EDa5nN6yP+tWZ62M3wImgJ
sov8N3AV5Vi+34brrLVH9cXDtrz/rnPi8J527BFYPZsfYqHRc69KvtQ+nqaPmdRb
sWukGQbzbZJodV4T5RZX+YdAA3RoQqCPrRysy7QKgfeDRnIJEPN0Q2640keq8l6l
mwo4ZsgDTwKAuHrces2/nNhhyRNnJVVxC+OTJwY4d0Q8W1bs7SZI2g2MWEJLYrVG
fQJHHCWJuZEiKELpjgcIfvE5eclefQw8nll/5mU0EoEcL1v+YqaltsIMZssgH/Rs
uV2AdEePp55ZL3trtLyLssW+WiTeq3WE3j6mzDrw7YwdaohubOAfSoCl6f2n1q1q
ucQJEM5LUDcPAEmupoTxaykeQztStb/9/p56OpVKRsl4uKtfpP5dsoNqx4qM3X7e
WRHCGlJ2cU14etoHI0mfBW2fOJABOjuwRW1DU31MiuH975UGJw50aXtpo9clToT7
4HjGXxfKJbsmXEv0Fnw3Ty/BUtfjv5tME9rbPrXqygheH9rbgU9RgPbBB8EdgeaK
811LrThWg7wVY1uBDOc5DXh6Eysa0k4SW3I5Jr/qZF0pkPAZSX9HT6tGB31G6BNA
7j8CFxWh1UBQxyAAi6g8MBCBeYeMh1rCCL0sqTGzBExg/epzUD2c1gW8eXMwU5YN
BC8AbQ/JmTSVG+ylIbvExujmex1Y5h5gnmUbQ/5po4QptuByTQYSkuN2EDVMdGk7
-----END RSA PRIVATE KEY-----
`;
const SSH_PEM = `-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-256-CBC,BC05097EA64B38504B37C997ECE12578

5YY7COiGpjx/S/sSrQeKseFJFXd25Lau/1i8TsZTb5MUNR920qqLQsADiDcaAb0r
8Ww5qKbCrp1tgfubXd2pnkao4bBrybLWIoSH2rSg1OCJ6UJ6/5UnFlmLl8fv3wwU
XVrlS0uNyGZsvjuYWpfFBQY5T4r+hDrT8RPRCokj9yxqvUCCgmKulQTSVgsh5aIk
2HDtJJHcjotli3fv6/PRx4FETaYdmg+0UbKm5Ppj4l1YBHAI2VJ40vv1OwVgjMP9
hC7846XURak8aE56KiZ030px7AnuuYLXPhtnrdZ/1g7Q8PLhtDiBdR/2v4UPAnxf
ic3Yj+Nr5+S/Bp2TmIeI44a/KH7t0+S0cf3ie3hq7QlWcKwnW7WdehpYy+AUl1Vd
abfVdW3uvH8NyCaBN4PNIxzH9nwOkePOU2M6RSgS1M+NyUIYW2/A9NvT27sAREH9
CXApRkJ4c49aqV2xzz1CngQ7P+qdouPhxRGJVLZAnvWLC49t8zq3O/khPtFD6Whm
bSMIdEr8imbEUmf8TElLma3kOLYaVQocbAlB1YYVzLCLFfqWY4djGGH+fJVkMRdm
8/9U0dYRr1M4wVYa0GD3VxrfKO9/V+bMw62oGoK2rnrdMDJwTSGnjQ75PeAFehl/
yKX0UjaJjrWVOrjLOcB1rZHTHJ8xVqdec3JQrR8tDnp4N5OkmfJCVOSOIrMcd+y7
/LLVUyQb6lPGyfFIsaD1M9JtAObqVfyY+gfy69kIkArl8yEnmtbYhUKxkEAYh3A8
h9nj+tWtqnjCHBTNXJqfnFvxC9YrtpbMudCsUBB75JWrI0ScXFEj8kLNiSI89gox
PxpeOl1kYzFrCGStAwK/rF03Z1hTHci2MWWq+eZnDB+rL5nJvwtPDe+qj2acleng
eaauPpushCpoHjoU3fD3DQ8tA3zoqIAN1h3+P+Ip69wvRuHrbiRIHZBSygJFse4f
5/nryxDcU1vP18r0qw39rJMdJ6G37+Iiz9U22wer3h46weT+HeXooxKJNT2QmctM
RP6+SRiw8wSpJIQC4ZfZ/KT2+yPvYBLf5MXxBaClusT7knd3cNTwUhjM/ztxcG9L
mpxPQemYWBORyBvH1eeBuFZ4yZc5dx8Pvp8CMgw6eZ9/4yckzT42+lkfkeEpDDI9
6QzZBfI007WlYSf1bpeMF2UIHS4iVBm1hTV2z45LfWRt7Ul5YzWi+SSFfKP+w0up
HZ6bUWu+4kkt110zzuqbAFH/NzV8FVHBSJ9E2zMA2vfcu4+dAkzYRmkoLVn+5HWw
6tr/Olud5Kryb9+Q79uKUBeTZCIXTvXKS0eB23M1HUiTXDISpLoAlQwNwkZSiKkc
iGkNjO+ULGjK3NUqAZNvmgK5Qyh+/L0IAw3WNmBx1uUALm5z2VEdqlehHY0rWLfG
+2tJSjzDu9ooJwzsgpVUGYfnMox6he91VzoV58LgpTvjldGNBjIOHiJ3/605eAUG
rxGh/qC6rFZzRzl5d8dLCe0QBdYIxdBHxaExghlWyFSxi/1XcvGhOOBpt+Qs53G+
1fT2gzKbe59yKa+QSKnw6rdFTYD+L5oBGVgLdPheaiPlOHaXtGki8U/y3BzPYCLW
-----END RSA PRIVATE KEY-----
`;

/** The file. */
export const ZUUL_KEYS = JSON.stringify({
  keys: {
    '/keystorage/local/org/org%2Fproject/secrets': {
      schema: 1,
      keys: [{ version: 0, created: 1_700_000_000, private_key: SECRETS_PEM }],
    },
    '/keystorage/local/org/org%2Fproject/ssh': {
      schema: 1,
      keys: [{ version: 0, created: 1_700_000_001, private_key: SSH_PEM }],
    },
  },
});

/** By Python's cryptography, as Zuul does it: two chunks of `grüße von Python`. */
export const FROM_PYTHON = [
  'dIWgZuTjJN56kQv66bmdcs/4mI1uExQcSdQ4qFiCEeUt/aLE000dCVNIZuCjAF4Br+ycm7adFMdPXi0tGEgGEZZmuI6pZbEuDiFKlLwRp+16q/okEFpmqHjqx93qhrsFmaviLtiDpj9+xAPmlHkjRdLeTlxJhl1DMgP+O/6wg7MHO3PbxHfME1xqWDoU0JT/0lycSlpIhmNFtT1jjVzUxFdaL4ZjgcNUQMCDmSexy81IvOaLQfsTb0Gw/FfiY312nCOkc6uownUuNQj7ZSiK7mQUvwtXvG9x7dk+biS76iTRgdX0aFZKfWl5FBRG1GKtUbM7gUkMxA3d7Nb2d+TC2A==',
  'vVhqYEyDTPMNn3aurPT2tuEJ8/aCUkLdPYkjzepW9zbhDOYESW8YqnvEDFDM7roABXHM8s5xWiQLMh4N4hVpUVnpewIDjJhzWeTYRfFydN/GrL5r3lkykOjmKYMVUnzr458FnRWeB4BWmK6A70R04vA18bsS6i2OuaTSqLvfRfR67YOhIUGslWdoqPm1EOMaECyAZQg6rt539IaE+UzROr/S35eEFrrjbkFd6Gr4yChgPatCoolcc8QNBMZJQKgT6RCrUXSwlf6IZrUVnM4Lwk1yWb67x7TTiQT6oHaAMqfCGna9uU5Hto0AznwpjnsbZlbkwN9AdIBgMIigiv+5iw==',
];
/** By `openssl pkeyutl`: `from the client`. */
export const FROM_OPENSSL =
  'nbTGOhJZDrdY/uzmYPPVncaAt4voxHRWSoQPZU0x1hv/EoFl0fZoX3lEAm2rBwIXpBNUCTKLfuz0kJX8UKKJ70soEklFe5OE2szuoS/Tu4RMa/KrJ4Es6ZO1RMvCgK53UQJMrVnqle3osew71EXpF+A0/qN4juFx6apuHrMMLdE4rKSspcs6tCM+rNILeQYbSjnKc+WQaJdsob1Vx++wa94JmoUQaVlaSxtfZBPmEd4U5pYhrPhSWngTzp6Jb+/N+Ll9Psu+b68BwoZWt22VdjsvqbkMQnc4p53f49M7xY19JP+uToEWfHiiwYu/FpS3CbH6WNyhAa7e9Zj08zIzSA==';
/** Printed by zuul-client 14: `from the client`. */
export const FROM_ZUUL_CLIENT = `- secret:
    name: deploy
    data:
      token: !encrypted/pkcs1-oaep
        - JnNGbXJCb1lyvQK+AWdC3aAuTpNsGnUIuT+dlRYjBrE3L4Mbd8lM24lww5qDrVNdFK0s4
          SFWr0pVCWXcQerwRIGxibT9//mUH06HbGGL0vd38NDh23MXOVk3VtWsODM12hkSlzo8N4
          I5lF+7BCBFMV0tpaco4QsRwEWy59BMlMmJL8vE9PgGKhITuhgWDuWykgRGB8rIJwfmXXt
          fdYVMpoelPxBu/owixL/57yoQgMVMmxXTaUkuyNoYPrpdazaqS7QQtRU7qPVce+JnIjPh
          rDPU/su4XdjTosL6Yx3kiE9d3dKIHBgry57mUNvMj4HyXbBHiyt47K4DSY75gcvzFA==
`;
